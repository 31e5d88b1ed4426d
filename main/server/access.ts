/**
 * Who may talk to the server. The token is random at each start. `/?token=…` is taken once and turned into a cookie (HttpOnly, SameSite=Strict), and
 * the address is replaced: so the token stays out of history, referrers and scripts, which a token in the fragment, kept by the page, would not.
 * Programs send it as `Authorization: Bearer`. The Host list stops DNS rebinding; the Origin check stops pages of other sites.
 */
import { createHash, randomBytes, timingSafeEqual } from "node:crypto";
import { hostname, networkInterfaces } from "node:os";
import { HalogenError } from "../../app/error.ts";

export interface Headers {
  host?: string | undefined;
  origin?: string | undefined;
  cookie?: string | undefined;
  authorization?: string | undefined;
}

export interface Access {
  readonly token: string;
  checkHost(headers: Headers): void;
  /** For everything that reads or changes something: token, and Origin where a browser is the sender. */
  checkCaller(headers: Headers): void;
  isToken(value: string): boolean;
  /** Value of Set-Cookie. */
  cookie(): string;
}

export interface AccessOptions {
  /** The port that is listened on; cookies do not know ports, so it is part of the cookie's name. */
  port: number;
  /** The address that is listened on. */
  host: string;
  /** Further names by which this machine may be called. */
  allowedHosts?: string[] | undefined;
  token?: string | undefined;
}

export function createAccess(options: AccessOptions): Access {
  const token = options.token ?? randomBytes(24).toString("base64url");
  // Not the token itself, so that a stolen cookie does not open the API to programs without an Origin.
  const secret = randomBytes(24).toString("base64url");
  const cookieName = `halogen-${options.port}`;
  const hosts = new Set(allowedNames(options).map((name) => authority(name, options.port)));
  if (options.port === 80) for (const name of allowedNames(options)) hosts.add(bracketed(name));

  function checkHost(headers: Headers): void {
    const host = (headers.host ?? "").toLowerCase();
    if (hosts.has(host)) return;
    throw new HalogenError(
      "transport.unauthorised",
      `This server does not answer to the host name "${host.slice(0, 100)}".`,
      {
        hint: "Use the printed address, or start it with --allow-host NAME.",
        detail: { host: host.slice(0, 100), status: 403 },
      },
    );
  }

  return {
    token,
    checkHost,
    checkCaller(headers) {
      checkHost(headers);
      if (headers.origin !== undefined && headers.origin.toLowerCase() !== `http://${headers.host?.toLowerCase()}`) {
        throw new HalogenError(
          "transport.unauthorised",
          `Pages of "${headers.origin.slice(0, 100)}" may not use this server.`,
          {
            detail: { origin: headers.origin.slice(0, 100), status: 403 },
          },
        );
      }
      const bearer = /^Bearer +(\S+)$/i.exec(headers.authorization ?? "")?.[1];
      if (bearer !== undefined && same(bearer, token)) return;
      // A browser names its page's origin on every socket and POST; a cookie without one did not come from our page.
      const cookie = headers.origin === undefined ? undefined : readCookie(headers.cookie ?? "", cookieName);
      if (cookie !== undefined && same(cookie, secret)) return;
      throw new HalogenError("transport.unauthorised", "The access token is missing or wrong.", {
        hint: "Open the address that `halogen serve` printed, or send `Authorization: Bearer <token>`.",
        detail: { status: 401 },
      });
    },
    isToken: (value) => same(value, token),
    cookie: () => `${cookieName}=${secret}; HttpOnly; SameSite=Strict; Path=/`,
  };
}

/** In time that does not depend on where the two differ; hashing first makes the lengths equal. */
function same(left: string, right: string): boolean {
  const digest = (text: string) => createHash("sha256").update(text).digest();
  return timingSafeEqual(digest(left), digest(right));
}

function readCookie(header: string, name: string): string | undefined {
  for (const part of header.split(";")) {
    const [key, value] = part.trim().split("=", 2);
    if (key === name) return value;
  }
  return undefined;
}

export function isLoopback(host: string): boolean {
  return host === "localhost" || host === "::1" || /^127(\.\d{1,3}){3}$/.test(host);
}

function allowedNames(options: AccessOptions): string[] {
  const names = ["localhost", "127.0.0.1", "::1", options.host, ...(options.allowedHosts ?? [])];
  if (isLoopback(options.host)) return names;
  // Opened to the network on purpose: this machine's own name and addresses count as well.
  const addresses = Object.values(networkInterfaces()).flatMap((list) => (list ?? []).map((entry) => entry.address));
  return [...names, hostname(), ...addresses];
}

function bracketed(name: string): string {
  return (name.includes(":") ? `[${name}]` : name).toLowerCase();
}

/** As it stands in a Host header and in an address. */
export function authority(host: string, port: number): string {
  return `${bracketed(host)}:${port}`;
}
