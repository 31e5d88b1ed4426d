/** One GET over node:http(s): redirects, proxies, a limit on waiting for the head of the answer. The body is the caller's. */
import http, { type IncomingHttpHeaders, type IncomingMessage, type RequestOptions } from "node:http";
import https from "node:https";
import type { Duplex } from "node:stream";
import { connect as tlsConnect } from "node:tls";

/** As main/setting reads it from the environment. */
export interface ProxyRoute {
  http: string | undefined;
  https: string | undefined;
  direct: readonly string[];
}

export interface GetOptions {
  headers?: Record<string, string>;
  signal?: AbortSignal;
  proxy?: ProxyRoute;
  /** Until the head of the answer is there, per hop. */
  headMilliseconds?: number;
}

export interface Answer {
  status: number;
  headers: IncomingHttpHeaders;
  /** After redirects. */
  url: string;
  body: IncomingMessage;
}

/** `permanent`: another try cannot help. */
export class HttpFault extends Error {
  readonly permanent: boolean;

  constructor(message: string, permanent: boolean) {
    super(message);
    this.name = "HttpFault";
    this.permanent = permanent;
  }
}

const mostRedirects = 10;

/** Rejects with HttpFault or with what Node reports of the connection. */
export async function get(address: string, options: GetOptions = {}): Promise<Answer> {
  let url = new URL(address);
  for (let hop = 0; hop <= mostRedirects; hop++) {
    const body = await request(url, options);
    const status = body.statusCode ?? 0;
    const location = body.headers.location;
    if (![301, 302, 303, 307, 308].includes(status) || location === undefined) {
      return { status, headers: body.headers, url: url.href, body };
    }
    body.destroy();
    const next = new URL(location, url);
    if (next.protocol !== "https:" && (url.protocol === "https:" || next.protocol !== "http:")) {
      throw new HttpFault(`${url.host} redirects to ${next.protocol}//${next.host}, which is not safe`, true);
    }
    url = next;
  }
  throw new HttpFault(`${url.host} redirects in a circle`, true);
}

async function request(url: URL, options: GetOptions): Promise<IncomingMessage> {
  const proxy = proxyFor(url, options.proxy);
  const secure = url.protocol === "https:";
  const base: RequestOptions = {
    method: "GET",
    headers: { "user-agent": "Halogen", "accept-encoding": "identity", ...options.headers },
    ...(options.signal === undefined ? {} : { signal: options.signal }),
  };
  if (proxy === null) return send(secure, { ...base, ...target(url) }, url, options);
  if (!secure) {
    const headers = { ...base.headers, host: url.host, ...authorization(proxy) };
    return send(proxy.protocol === "https:", { ...base, ...target(proxy), path: url.href, headers }, url, options);
  }
  const socket = await tunnel(proxy, url, options);
  // Any agent, even `false`, would connect by itself; without one the Host header would name port 80.
  const createConnection = (): Duplex => tlsConnect({ socket, servername: bare(url), ALPNProtocols: ["http/1.1"] });
  const headers = { ...base.headers, host: url.host };
  return send(true, { ...base, ...target(url), headers, createConnection } as RequestOptions, url, options);
}

function send(
  secure: boolean,
  options: RequestOptions,
  url: URL,
  { headMilliseconds = 30_000 }: GetOptions,
): Promise<IncomingMessage> {
  return new Promise((resolve, reject) => {
    const call = (secure ? https : http).request(options);
    const timer = setTimeout(
      () => call.destroy(new HttpFault(`${url.host} did not answer within ${headMilliseconds / 1000} s`, false)),
      headMilliseconds,
    );
    call.on("response", (answer) => {
      clearTimeout(timer);
      resolve(answer);
    });
    // Stays for ever: an error after the head also ends the body, whose reader reports it.
    call.on("error", (error) => {
      clearTimeout(timer);
      reject(error);
    });
    call.end();
  });
}

function tunnel(proxy: URL, url: URL, { signal, headMilliseconds = 30_000 }: GetOptions): Promise<Duplex> {
  return new Promise((resolve, reject) => {
    const goal = `${url.hostname}:${url.port || 443}`;
    const headers = { host: goal, ...authorization(proxy) };
    const call = (proxy.protocol === "https:" ? https : http).request({
      ...target(proxy),
      method: "CONNECT",
      path: goal,
      headers,
      agent: false,
      ...(signal === undefined ? {} : { signal }),
    });
    call.setTimeout(headMilliseconds, () =>
      call.destroy(new HttpFault(`the proxy ${proxy.host} did not answer`, false)),
    );
    call.on("connect", (answer, socket) => {
      socket.setTimeout(0);
      if (answer.statusCode === 200) resolve(socket);
      else {
        socket.destroy();
        reject(
          new HttpFault(
            `the proxy ${proxy.host} answered ${answer.statusCode ?? 0} ${answer.statusMessage ?? ""}`.trim(),
            true,
          ),
        );
      }
    });
    call.on("error", reject);
    call.end();
  });
}

function target(url: URL): RequestOptions {
  return {
    protocol: url.protocol,
    hostname: bare(url),
    port: url.port === "" ? undefined : url.port,
    path: url.pathname + url.search,
  };
}

/** An IPv6 address without its brackets. */
function bare(url: URL): string {
  return url.hostname.replace(/^\[|\]$/g, "");
}

function authorization(proxy: URL): Record<string, string> {
  if (proxy.username === "") return {};
  const pair = `${decodeURIComponent(proxy.username)}:${decodeURIComponent(proxy.password)}`;
  return { "proxy-authorization": `Basic ${Buffer.from(pair).toString("base64")}` };
}

/** The proxy that leads to this address, or null: reached directly. */
export function proxyFor(url: URL, proxy: ProxyRoute | undefined): URL | null {
  const address = url.protocol === "https:" ? proxy?.https : proxy?.http;
  if (proxy === undefined || address === undefined) return null;
  const host = bare(url).toLowerCase();
  const direct = proxy.direct.some((entry) => {
    const name = entry
      .toLowerCase()
      .replace(/^\*?\.?/, "")
      .replace(/^([^:]+):\d+$/, "$1")
      .replace(/^\[|\]$/g, "");
    return entry === "*" || (name !== "" && (host === name || host.endsWith(`.${name}`)));
  });
  return direct ? null : new URL(address);
}
