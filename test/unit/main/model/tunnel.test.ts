/** HTTPS through a proxy, for real: a TLS server, a proxy that tunnels, a certificate made on the spot (skipped where there is no openssl). */
import { spawnSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { createServer as createHttp } from "node:http";
import { createServer as createHttps } from "node:https";
import { type AddressInfo, connect, type Socket } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { getCACertificates, setDefaultCACertificates } from "node:tls";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { get } from "../../../../main/model/http.ts";

const folder = mkdtempSync(join(tmpdir(), "halogen-tls-"));
const key = join(folder, "key.pem");
const certificate = join(folder, "cert.pem");
const made = spawnSync("openssl", [
  ...["req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes", "-days", "2"],
  ...[
    "-subj",
    "/CN=models.example",
    "-addext",
    "subjectAltName=DNS:models.example",
    "-keyout",
    key,
    "-out",
    certificate,
  ],
]);

async function portOf(server: {
  listen(port: number, host: string, done: () => void): unknown;
  address(): unknown;
}): Promise<number> {
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  return (server.address() as AddressInfo).port;
}

async function textOf(url: string, port: number): Promise<string> {
  const answer = await get(url, { proxy: { http: undefined, https: `http://127.0.0.1:${port}`, direct: [] } });
  const parts: Buffer[] = [];
  for await (const part of answer.body as AsyncIterable<Buffer>) parts.push(part);
  return `${answer.status} ${Buffer.concat(parts).toString()}`;
}

describe.skipIf(made.status !== 0)("HTTPS through a proxy", () => {
  const sockets = new Set<Socket>();
  const hosts: string[] = [];
  const secure = made.status === 0 ? createHttps({ key: readFileSync(key), cert: readFileSync(certificate) }) : null;
  const proxy = createHttp();
  let port = 0;

  beforeAll(async () => {
    if (secure === null) return;
    secure.on("request", (request, response) => {
      if (request.url === "/moved") response.writeHead(302, { location: "/file" }).end();
      else if (request.url === "/down") response.writeHead(302, { location: "http://models.example/file" }).end();
      else response.end(`hello ${request.headers.host}`);
    });
    const goal = await portOf(secure);
    proxy.on("connect", (request, socket: Socket) => {
      hosts.push(request.url ?? "");
      const onward = connect(goal, "127.0.0.1", () => {
        socket.write("HTTP/1.1 200 OK\r\n\r\n");
        onward.pipe(socket).pipe(onward);
      });
      for (const each of [socket, onward]) sockets.add(each);
    });
    port = await portOf(proxy);
  });
  afterAll(() => {
    for (const socket of sockets) socket.destroy();
    secure?.close();
    proxy.close();
    rmSync(folder, { recursive: true });
  });

  it("refuses a certificate that nobody vouches for", async () => {
    await expect(textOf("https://models.example/file", port)).rejects.toThrow(/self-signed|unable to verify/);
  });

  it("reads through the tunnel, follows redirects inside it, and never goes on without TLS", async () => {
    const usual = getCACertificates("default");
    setDefaultCACertificates([...usual, readFileSync(certificate, "utf8")]);
    try {
      hosts.length = 0;
      expect(await textOf("https://models.example/file", port)).toBe("200 hello models.example");
      expect(await textOf("https://models.example/moved", port)).toBe("200 hello models.example");
      expect(hosts).toEqual(["models.example:443", "models.example:443", "models.example:443"]);
      await expect(textOf("https://models.example/down", port)).rejects.toThrow("not safe");
      await expect(textOf("https://other.example/file", port)).rejects.toThrow(/altnames|Hostname/);
    } finally {
      setDefaultCACertificates(usual);
    }
  });
});
