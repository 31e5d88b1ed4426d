/** Both forms of Electron's protocol module: `handle` (new) and `registerBufferProtocol` (Electron 22). */
import { chmod, mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Protocol } from "electron";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { servePage } from "../../../../main/electron/protocol.ts";

interface Answer {
  status: number;
  type: string;
  policy: string;
  body: string;
}

type Ask = (address: string) => Promise<Answer>;

let folder: string;

beforeAll(async () => {
  folder = join(await mkdtemp(join(tmpdir(), "halogen-protocol-")), "page");
  await mkdir(join(folder, "assets"), { recursive: true });
  await writeFile(join(folder, "index.html"), "<title>é</title>");
  await writeFile(join(folder, "assets", "a.js"), "1");
  await writeFile(join(folder, "secret.env"), "x");
  await writeFile(join(folder, "..", "outside.js"), "secret");
});
afterAll(() => rm(join(folder, ".."), { recursive: true }));

function current(): Ask {
  const handlers: ((request: Request) => Promise<Response>)[] = [];
  const protocol = { handle: (_scheme: string, handler: (typeof handlers)[number]) => handlers.push(handler) };
  servePage(protocol as unknown as Protocol, folder);
  return async (address) => {
    const response = await handlers[0]?.({ url: address } as Request);
    if (response === undefined) throw new Error("nothing was registered");
    return {
      status: response.status,
      type: response.headers.get("content-type") ?? "",
      policy: response.headers.get("content-security-policy") ?? "",
      body: await response.text(),
    };
  };
}

function old(): Ask {
  interface Reply {
    statusCode: number;
    mimeType: string;
    headers: Record<string, string>;
    data: Buffer;
  }
  type Handler = (request: { url: string }, callback: (reply: Reply) => void) => void;
  const handlers: Handler[] = [];
  servePage(
    { registerBufferProtocol: (_scheme: string, handler: Handler) => handlers.push(handler) } as unknown as Protocol,
    folder,
  );
  return (address) =>
    new Promise((done) => {
      handlers[0]?.({ url: address }, ({ statusCode, mimeType, headers, data }) =>
        done({
          status: statusCode,
          type: mimeType,
          policy: headers["Content-Security-Policy"] ?? "",
          body: data.toString(),
        }),
      );
    });
}

describe.each([
  ["handle", current],
  ["registerBufferProtocol", old],
])("page over %s", (_name, make) => {
  test.each([
    ["app://halogen/", "text/html", "<title>é</title>"],
    ["app://halogen/index.html?x#y", "text/html", "<title>é</title>"],
    ["app://halogen/assets/a.js", "text/javascript", "1"],
  ])("%s is served under the policy", async (address, type, body) => {
    const answer = await make()(address);
    expect(answer).toMatchObject({ status: 200, body });
    expect(answer.type).toContain(type);
    expect(answer.policy).toMatch(/default-src 'none'.*script-src 'self'/);
  });

  test.each([
    "app://halogen/none.js",
    "app://halogen/assets",
    "app://halogen/secret.env",
    "app://halogen/..%2foutside.js",
    "app://halogen/%2e%2e/outside.js",
    "app://halogen/..%5coutside.js",
    "app://halogen/a%00.js",
    "app://halogen/%zz.js",
    "app://other/index.html",
  ])("%s is not there, and still an answer", async (address) => {
    expect(await make()(address)).toMatchObject({ status: 404, policy: expect.stringContaining("default-src 'none'") });
  });

  test.skipIf(process.getuid?.() === 0)("a file that cannot be read is an answer with the reason", async () => {
    await writeFile(join(folder, "locked.js"), "1");
    await chmod(join(folder, "locked.js"), 0);
    expect(await make()("app://halogen/locked.js")).toMatchObject({
      status: 404,
      body: expect.stringContaining("EACCES"),
    });
  });
});
