/** The contract over HTTP and WebSocket, and the built page. Loopback unless told otherwise; everything but the page needs the token. */
import { readFile } from "node:fs/promises";
import type { AddressInfo } from "node:net";
import websocket from "@fastify/websocket";
import fastify, { type FastifyInstance, type FastifyReply, type FastifyRequest } from "fastify";
import { checkName, frameByteLimit } from "../../app/contract/channel.ts";
import type { Service } from "../../app/contract/client.ts";
import { HalogenError, toWire } from "../../app/error.ts";
import { cacheControl, pageFile, pageHeaders } from "../page.ts";
import { type Access, authority, createAccess } from "./access.ts";
import { serveSocket } from "./socket.ts";
import { statusOf } from "./status.ts";

export interface ServerOptions {
  service: Service;
  /** The built page (index.html and assets/). */
  pageFolder: string;
  host: string;
  /** 0 = a free one. */
  port: number;
  allowedHosts?: string[] | undefined;
  /** Default: a random one. */
  token?: string | undefined;
  /** One line for the person who runs the server. */
  log(line: string): void;
}

export interface Server {
  port: number;
  token: string;
  /** Without the token. */
  origin: string;
  /** What to open in a browser: with the token, which the server takes once for a cookie. */
  address: string;
  close(): Promise<void>;
}

export async function createServer(options: ServerOptions): Promise<Server> {
  // The port is part of the cookie's name and of the Host list, and with port 0 it is known only after listening.
  let access: Access | null = null;
  const guard = () => {
    if (access === null) throw new HalogenError("transport.closed", "The server is still starting.");
    return access;
  };
  const server = fastify({ bodyLimit: frameByteLimit, forceCloseConnections: true, trustProxy: false });
  await server.register(websocket, { options: { maxPayload: frameByteLimit, perMessageDeflate: false } });

  server.addHook("onRequest", async (request, reply) => {
    for (const [name, value] of Object.entries(pageHeaders(`ws://${request.headers.host ?? ""}`)))
      reply.header(name, value);
    guard().checkHost(request.headers);
  });
  server.setErrorHandler((error, _request, reply) => sendError(reply, error));
  // The hook belongs to the routes, not to a prefix of the address: the router also finds them under escaped spellings.
  await server.register(async (api) => {
    api.addHook("onRequest", async (request, reply) => {
      reply.header("Cache-Control", "no-store");
      guard().checkCaller(request.headers);
    });
    addCalls(api, options.service);
    api.get("/api/socket", { websocket: true }, (socket) => serveSocket(socket, options.service, options.log));
  });
  addPage(server, options.pageFolder, guard);

  const port = await listen(server, options);
  access = createAccess({ port, host: options.host, allowedHosts: options.allowedHosts, token: options.token });
  // An address of "all interfaces" cannot be opened.
  const shown = options.host === "0.0.0.0" || options.host === "::" ? "localhost" : options.host;
  const origin = `http://${authority(shown, port)}`;
  return {
    port,
    token: access.token,
    origin,
    address: `${origin}/?token=${access.token}`,
    close: () => server.close(),
  };
}

function addCalls(server: FastifyInstance, service: Service): void {
  server.get("/api/access", (_request, reply) => reply.code(204).send());
  server.post<{ Params: { name: string } }>("/api/call/:name", async (request) => {
    const name = checkName(request.params.name);
    return (await service.handle(name, request.body ?? {})) as object;
  });
  server.all("/api/*", () => {
    throw new HalogenError("transport.unknown_call", "There is no such address.", {
      hint: "Calls are POST /api/call/<name> with a JSON object.",
    });
  });
}

function addPage(server: FastifyInstance, folder: string, guard: () => Access): void {
  server.get<{ Querystring: { token?: string } }>("/*", async (request, reply) => {
    const { pathname, searchParams } = new URL(request.url, "http://page");
    const token = searchParams.get("token");
    if (pathname === "/" && token !== null) {
      if (guard().isToken(token)) reply.header("Set-Cookie", guard().cookie());
      // Also with a wrong token: the page then says in words that it has no access.
      return reply.header("Cache-Control", "no-store").redirect("/", 303);
    }
    return sendFile(request, reply, folder, pathname);
  });
}

async function sendFile(_request: FastifyRequest, reply: FastifyReply, folder: string, pathname: string) {
  const file = pageFile(folder, pathname);
  const body = file === null ? null : await readFile(file.path).catch(missing);
  if (file === null || body === null) return reply.code(404).type("text/plain; charset=utf-8").send("Not found");
  return reply.type(file.type).header("Cache-Control", cacheControl(pathname)).send(body);
}

function missing(error: NodeJS.ErrnoException): null {
  if (error.code === "ENOENT" || error.code === "EISDIR" || error.code === "ENOTDIR") return null;
  throw error;
}

function sendError(reply: FastifyReply, error: unknown) {
  const wire = toWire(fromFastify(error));
  return reply.code(statusOf(wire)).type("application/json; charset=utf-8").send({ error: wire });
}

/** Fastify's own refusals (body too large, not JSON, wrong content type) in our words. */
function fromFastify(error: unknown): unknown {
  const { code, statusCode, message } = error as { code?: unknown; statusCode?: unknown; message?: unknown };
  if (error instanceof HalogenError || typeof code !== "string" || !code.startsWith("FST_")) return error;
  if (code === "FST_ERR_CTP_BODY_TOO_LARGE") {
    return new HalogenError("request.invalid", `The request is larger than ${frameByteLimit} bytes.`, {
      hint: "Shorten the text or send it in parts.",
      detail: { limit: frameByteLimit },
    });
  }
  const status = typeof statusCode === "number" ? statusCode : 400;
  return new HalogenError("request.invalid", String(message), {
    hint: "Send a JSON object with Content-Type: application/json.",
    detail: { status },
  });
}

async function listen(server: FastifyInstance, options: ServerOptions): Promise<number> {
  try {
    await server.listen({ host: options.host, port: options.port });
  } catch (error) {
    await server.close();
    const code = (error as NodeJS.ErrnoException).code;
    if (code !== "EADDRINUSE" && code !== "EACCES" && code !== "EADDRNOTAVAIL" && code !== "ENOTFOUND") throw error;
    const where = authority(options.host, options.port);
    const words = {
      EADDRINUSE: "is in use",
      EACCES: "needs more rights",
      EADDRNOTAVAIL: "is not this machine's",
      ENOTFOUND: "is unknown",
    };
    throw new HalogenError("transport.port_in_use", `Cannot listen on ${where}: it ${words[code]}.`, {
      hint: "Choose another with --port N (0 = any free one) or --host.",
      detail: { host: options.host, port: options.port, cause: code },
      cause: error,
    });
  }
  return (server.server.address() as AddressInfo).port;
}
