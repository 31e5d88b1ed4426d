import { rm, writeFile } from "node:fs/promises";
import { request as httpRequest, type IncomingMessage } from "node:http";
import { connect } from "node:net";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { WebSocket } from "ws";
import { frameByteLimit } from "../../../../app/contract/channel.ts";
import { HalogenError, type WireError } from "../../../../app/error.ts";
import { createServer, type Server } from "../../../../main/server/server.ts";
import { createDouble, type Double, info, makeDelta, makeSession } from "../../contract/double.ts";
import { connectClient, makePageFolder } from "../../contract/transport.ts";

let double: Double;
let server: Server;
let pageFolder: string;
let lines: string[];

beforeEach(async () => {
  double = createDouble();
  double.set("app.info", async () => info);
  pageFolder = await makePageFolder();
  lines = [];
  server = await start(0);
});
afterEach(async () => {
  await server.close();
  await rm(pageFolder, { recursive: true });
});

function start(port: number): Promise<Server> {
  return createServer({
    service: double.service,
    pageFolder,
    host: "127.0.0.1",
    port,
    log: (line) => lines.push(line),
  });
}

function post(name: string, body: string, headers: Record<string, string> = {}): Promise<Response> {
  return fetch(`${server.origin}/api/call/${name}`, {
    method: "POST",
    body,
    headers: { authorization: `Bearer ${server.token}`, "content-type": "application/json", ...headers },
  });
}

/** fetch cannot send a foreign Host. */
function raw(path: string, headers: Record<string, string>, method = "GET"): Promise<IncomingMessage> {
  return new Promise((resolve, reject) => {
    const outgoing = httpRequest({ host: "127.0.0.1", port: server.port, path, headers, method }, (response) => {
      response.resume();
      response.on("end", () => resolve(response));
    });
    outgoing.on("error", reject);
    outgoing.end();
  });
}

function upgradeStatus(headers: Record<string, string>): Promise<number> {
  return new Promise((resolve, reject) => {
    const socket = new WebSocket(`ws://127.0.0.1:${server.port}/api/socket`, { headers });
    socket.on("open", () => {
      socket.close();
      resolve(101);
    });
    socket.on("unexpected-response", (_request, response) => {
      resolve(response.statusCode ?? 0);
      response.destroy();
    });
    socket.on("error", reject);
  });
}

describe("calls by POST", () => {
  test("answer with the reply", async () => {
    const response = await post("app.info", "{}");
    expect([response.status, await response.json()]).toEqual([200, info]);
    expect(response.headers.get("cache-control")).toBe("no-store");
  });

  test.each([
    ["session.busy", 409],
    ["context.exceeded", 422],
    ["session.not_found", 404],
    ["engine.crashed", 503],
    ["internal", 500],
  ] as const)("%s is answered with %i and the error", async (code, status) => {
    double.set("session.list", async () => {
      throw new HalogenError(code, "words", { hint: "hint", detail: { tokens: 9, limit: 4 } });
    });
    const response = await post("session.list", "{}");
    expect(response.status).toBe(status);
    expect(await response.json()).toEqual({
      error: { code, message: "words", hint: "hint", detail: { tokens: 9, limit: 4 } },
    });
  });

  test.each([
    ["app.info", "{", 400, "request.invalid"],
    ["app.info", '{"more":1}', 400, "request.invalid"],
    ["app.info", "[]", 400, "request.invalid"],
    ["app.none", "{}", 404, "transport.unknown_call"],
    ["__proto__", "{}", 404, "transport.unknown_call"],
  ])("%s with %j is answered with %i %s", async (name, body, status, code) => {
    const response = await post(name, body);
    expect(response.status).toBe(status);
    expect(await response.json()).toMatchObject({ error: { code } });
  });

  test("another content type is refused", async () => {
    const response = await post("app.info", "a=b", { "content-type": "application/x-www-form-urlencoded" });
    expect([response.status, await response.json()]).toMatchObject([415, { error: { code: "request.invalid" } }]);
  });

  test("a text beyond the limit is 413 with both numbers", async () => {
    const response = await post("session.create", JSON.stringify({ system: "x".repeat(8_000_001) }));
    expect(response.status).toBe(413);
    const { error } = (await response.json()) as { error: WireError };
    expect(error).toMatchObject({ code: "request.invalid", detail: { path: "system", limit: 8_000_000 } });
    expect(error.message).toContain("8000001");
    expect((await post("session.update", '{"sessionId":"s","sampling":{"topP":9}}')).status).toBe(400);
  });

  test("a body beyond the limit is 413 with the number", async () => {
    const response = await post("session.create", JSON.stringify({ system: "x".repeat(frameByteLimit) }));
    expect(response.status).toBe(413);
    expect(await response.json()).toMatchObject({
      error: { code: "request.invalid", detail: { limit: frameByteLimit } },
    });
  });
});

describe("access", () => {
  test("without a token nothing of the API answers", async () => {
    for (const path of [
      "/api/access",
      "/api/socket",
      "/api/none",
      "/%61pi/access",
      "/api%2Faccess",
      "//api/access",
      "/API/access",
    ]) {
      const response = await raw(path, { host: `127.0.0.1:${server.port}` });
      expect([path, response.statusCode]).toEqual([path, expect.toBeOneOf([401, 404])]);
    }
    const posted = await raw("/%61pi/call/app.info", { host: `127.0.0.1:${server.port}` }, "POST");
    expect(posted.statusCode).toBe(401);
    expect(double.seen).toEqual([]);
    expect((await post("app.info", "{}", { authorization: "Bearer wrong" })).status).toBe(401);
  });

  test("a foreign Host gets nothing, not even the page", async () => {
    const headers = { host: `evil.example:${server.port}`, authorization: `Bearer ${server.token}` };
    for (const path of ["/", "/api/access"]) expect((await raw(path, headers)).statusCode).toBe(403);
  });

  test("the address sets the cookie and takes the token out of the address bar", async () => {
    const response = await fetch(server.address, { redirect: "manual" });
    expect([response.status, response.headers.get("location")]).toEqual([303, "/"]);
    expect(response.headers.get("set-cookie")).toMatch(/HttpOnly; SameSite=Strict/);
    const wrong = await fetch(`${server.origin}/?token=wrong`, { redirect: "manual" });
    expect([wrong.status, wrong.headers.get("set-cookie")]).toEqual([303, null]);
  });

  test("sockets: ours opens; no token, a foreign origin or a foreign host does not", async () => {
    const cookie =
      ((await fetch(server.address, { redirect: "manual" })).headers.get("set-cookie") ?? "").split(";")[0] ?? "";
    expect(await upgradeStatus({ cookie, origin: server.origin })).toBe(101);
    expect(await upgradeStatus({ authorization: `Bearer ${server.token}` })).toBe(101);
    expect(await upgradeStatus({ origin: server.origin })).toBe(401);
    expect(await upgradeStatus({ cookie })).toBe(401);
    expect(await upgradeStatus({ cookie, origin: "http://evil.example" })).toBe(403);
    expect(await upgradeStatus({ cookie, origin: "http://evil.example", host: "evil.example" })).toBe(403);
  });
});

describe("page", () => {
  test("is served with a policy that lets nothing in from elsewhere", async () => {
    const response = await fetch(server.origin);
    expect(await response.text()).toContain("<title>Halogen</title>");
    const policy = response.headers.get("content-security-policy") ?? "";
    expect(policy).toContain("default-src 'none'");
    expect(policy).toContain("script-src 'self';");
    expect(policy).toContain(`ws://127.0.0.1:${server.port}`);
    expect(policy).not.toMatch(/https?:|\*|unsafe-eval/);
    expect(response.headers.get("x-content-type-options")).toBe("nosniff");
    expect(response.headers.get("cache-control")).toBe("no-cache");
  });

  test("nothing outside its folder is served", async () => {
    await writeFile(join(pageFolder, "..", "outside.html"), "secret");
    const paths = [
      "/../outside.html",
      "/%2e%2e/outside.html",
      "/..%2foutside.html",
      "/assets/..%5c..%5coutside.html",
      "/%00.html",
      "/%zz",
    ];
    for (const path of paths) {
      const response = await raw(path, { host: `127.0.0.1:${server.port}` });
      expect([path, response.statusCode]).toEqual([path, expect.toBeOneOf([400, 404])]);
    }
    await rm(join(pageFolder, "..", "outside.html"));
  });
});

describe("life", () => {
  test("a port in use is named, with a way out", async () => {
    const error = await start(server.port).catch((reason: unknown) => reason);
    expect(error).toMatchObject({
      code: "transport.port_in_use",
      message: expect.stringContaining(String(server.port)),
    });
  });

  test("close ends open sockets and idle connections", async () => {
    const { client } = await connectClient(server);
    await client.call("app.info", {});
    const idle = connect(server.port, "127.0.0.1");
    await new Promise((resolve) => idle.once("connect", resolve));
    const gone = new Promise((resolve) => idle.once("close", resolve));
    idle.on("error", () => undefined);
    await server.close();
    await gone;
    client.close();
  });

  test("a client fails its calls when the server goes, and comes back with it", async () => {
    const { client } = await connectClient(server);
    await client.call("app.info", {});
    const states: string[] = [];
    const closed = new Promise<void>((resolve) => {
      client.onConnection((state) => {
        states.push(state);
        if (state === "closed") resolve();
      });
    });
    double.set("session.list", () => new Promise(() => undefined));
    const lost = client.call("session.list", {}).catch((reason: unknown) => reason);
    const { port, token } = server;
    await server.close();
    expect(await lost).toMatchObject({ code: "transport.closed" });
    await closed;
    // The next start has another cookie, so this page must learn that it has no access any more.
    server = await start(port);
    expect(server.token).not.toBe(token);
    let refused: unknown;
    while ((refused as HalogenError | undefined)?.code !== "transport.unauthorised") {
      refused = await client.call("app.info", {}).catch((reason: unknown) => reason);
      await new Promise((resolve) => setImmediate(resolve));
    }
    expect((refused as HalogenError).hint).toContain("address");
    expect(states).toEqual(["open", "closed", "refused"]);
    client.close();
  });

  test("a dropped socket is opened again and events go on", async () => {
    const { client, sockets } = await connectClient(server);
    await client.call("app.info", {});
    const states: string[] = [];
    const again = new Promise<void>((resolve) => {
      client.onConnection((state) => {
        states.push(state);
        if (states.length === 3) resolve();
      });
    });
    sockets[0]?.terminate();
    await again;
    expect(states).toEqual(["open", "closed", "open"]);
    const event = new Promise((resolve) => client.on("session.changed", resolve));
    double.emit({ name: "session.changed", payload: makeSession("s") });
    expect(await event).toEqual(makeSession("s"));
    client.close();
  });

  test("a page that does not read is cut off with the code for starting anew", async () => {
    const socket = new WebSocket(`ws://127.0.0.1:${server.port}/api/socket`, {
      headers: { authorization: `Bearer ${server.token}` },
    });
    await new Promise((resolve) => socket.once("open", resolve));
    socket.pause();
    const chunk = "y".repeat(256 * 1024);
    for (let i = 0; lines.length === 0 && i < 400; i += 1) {
      double.emit(makeDelta(i * chunk.length, chunk));
      await new Promise((resolve) => setImmediate(resolve));
    }
    expect(lines.join()).toContain("too slowly");
    const code = new Promise((resolve) => socket.once("close", resolve));
    socket.resume();
    expect(await code).toBeOneOf([4008, 1006]);
  });

  test("a frame that is no call ends the socket, and the server goes on", async () => {
    for (const data of ["{", "7", '{"type":"call"}', Buffer.from([0xff, 0x00])]) {
      const socket = new WebSocket(`ws://127.0.0.1:${server.port}/api/socket`, {
        headers: { authorization: `Bearer ${server.token}` },
      });
      await new Promise((resolve) => socket.once("open", resolve));
      const code = new Promise((resolve) => socket.once("close", resolve));
      socket.send(data);
      expect(await code).toBe(1003);
    }
    expect((await post("app.info", "{}")).status).toBe(200);
  });
});
