import { createHash, randomBytes } from "node:crypto";
import { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import type { AnyEvent } from "../../../../app/contract/event.ts";
import { type Download, downloadSchema } from "../../../../app/contract/model.ts";
import { createCatalogue } from "../../../../main/model/catalogue.ts";
import { createDownloads, type Downloads } from "../../../../main/model/downloads.ts";
import { createSpeedMeter } from "../../../../main/model/speed.ts";
import { ensureStarter } from "../../../../main/model/starter.ts";
import { type FileServer, sendFile, sendStatus, startFileServer } from "./file-server.ts";

const file = randomBytes(500_000);
const limits = {
  stallMilliseconds: 60_000,
  headMilliseconds: 60_000,
  tries: 2,
  firstTries: 1,
  pauseMilliseconds: 1,
  longestPauseMilliseconds: 1,
};

let root = "";
let server: FileServer;
let events: Download[] = [];
let installed: string[] = [];
let listeners: ((download: Download) => void)[] = [];
let running: Downloads[] = [];

beforeEach(async () => {
  root = mkdtempSync(join(tmpdir(), "halogen 下载 "));
  server = await startFileServer(sendFile(file));
  events = [];
  installed = [];
  listeners = [];
  running = [];
});
afterEach(async () => {
  await Promise.all(running.map((each) => each.close()));
  await server.close();
  rmSync(root, { recursive: true, force: true });
});

const folder = (): string => join(root, "models", ".partial");
const tools = {
  spawn: () => {
    throw new Error("nothing may be started");
  },
  platform: "linux" as const,
  variables: {},
  limits,
};

function catalogue() {
  const entry = (id: string) => ({
    id,
    name: `Model ${id}`,
    description: "",
    licence: "MIT",
    starter: id === "a",
    file: `${id}.gguf`,
    bytes: file.length,
    sha256: createHash("sha256").update(file).digest("hex"),
    sources: [{ kind: "http", label: "hub", url: server.url }],
  });
  return createCatalogue({ version: 1, entries: [entry("a"), entry("b")] }, join(root, "models"));
}

function open(): Downloads {
  const downloads = createDownloads({
    catalogue: catalogue(),
    folder: folder(),
    queueFile: join(root, "data", "downloads.json"),
    tools,
    emit(event: AnyEvent) {
      if (event.name !== "download.changed") throw new Error(`unexpected ${event.name}`);
      events.push(event.payload);
      for (const listener of listeners) listener(event.payload);
    },
    clock: Date.now,
    onInstalled: (path) => installed.push(path),
  });
  running.push(downloads);
  return downloads;
}

/** The next event that fits. */
function heard(fits: (download: Download) => boolean): Promise<Download> {
  return new Promise((resolve) => listeners.push((download) => fits(download) && resolve(download)));
}

const states = (id: string): string[] =>
  events
    .filter((each) => each.id === id)
    .map((each) => each.state)
    .filter((state, index, all) => state !== all[index - 1]);

describe("downloads", () => {
  it("run one after another, tell each step, and end in the model folder", async () => {
    const downloads = open();
    expect(downloads.start("a").state).toMatch(/queued|connecting/);
    expect(downloads.start("b").state).toBe("queued");
    expect(downloads.start("a").id).toBe("a");
    await Promise.all([downloads.finished("a"), downloads.finished("b")]);
    expect(states("a")).toEqual(["queued", "connecting", "downloading", "verifying", "done"]);
    expect(states("b")).toEqual(states("a"));
    expect(events.every((each) => downloadSchema.safeParse(each).success)).toBe(true);
    const firstDone = events.findIndex((each) => each.id === "a" && each.state === "done");
    expect(events.findIndex((each) => each.id === "b" && each.state === "connecting")).toBeGreaterThan(firstDone);
    expect(installed).toEqual([join(root, "models", "a.gguf"), join(root, "models", "b.gguf")]);
    expect(installed.every((path) => readFileSync(path).equals(file))).toBe(true);
    expect(catalogue().list()).toMatchObject([
      { id: "a", installed: true },
      { id: "b", installed: true },
    ]);
    expect(downloads.start("a").state).toBe("done");
    expect(() => downloads.start("c")).toThrow(expect.objectContaining({ code: "model.not_found" }));
  });

  it("go on after a restart in the middle, in the same order", async () => {
    server.script = [sendFile(file, { after: 300_000 })];
    const first = open();
    const arrived = heard((each) => each.id === "a" && each.state === "downloading");
    first.start("a");
    first.start("b");
    await arrived;
    const waiting = expect(first.finished("b")).rejects.toMatchObject({ code: "download.cancelled" });
    await first.close();
    await waiting;
    expect(readdirSync(folder())).toEqual(["a.part", "a.part.json"]);

    server.script = [sendFile(file)];
    const second = open();
    expect(second.list().map((each) => each.id)).toEqual(["a", "b"]);
    await Promise.all([second.finished("a"), second.finished("b")]);
    expect(server.requests.filter((request) => request.range !== undefined)).toHaveLength(1);
    expect(installed).toHaveLength(2);
    expect(readdirSync(folder())).toEqual([]);
    expect(open().list()).toEqual([]);
  });

  it("can be stopped while they run and while they wait, and leave nothing", async () => {
    server.script = [sendFile(file, { after: 300_000 })];
    const downloads = open();
    const arrived = heard((each) => each.state === "downloading");
    downloads.start("a");
    downloads.start("b");
    await arrived;
    expect(downloads.cancel("b").state).toBe("cancelled");
    const stopped = expect(downloads.finished("a")).rejects.toMatchObject({ code: "download.cancelled" });
    downloads.cancel("a");
    await stopped;
    expect(states("a").pop()).toBe("cancelled");
    expect(readdirSync(folder())).toEqual([]);
    expect(open().list()).toEqual([]);
    server.script = [sendFile(file)];
    downloads.start("a");
    await downloads.finished("a");
    expect(installed).toEqual([join(root, "models", "a.gguf")]);
  });

  it("show a failure over a restart, keep its part, and go on from it when started again", async () => {
    server.script = [sendFile(file, { after: 300_000 }), sendStatus(500)];
    const first = open();
    const arrived = heard((each) => each.received >= 300_000 || each.state === "downloading");
    const failed = expect(first.start("a") && first.finished("a")).rejects.toMatchObject({
      code: "download.no_source",
    });
    await arrived;
    const part = join(folder(), "a.part");
    await new Promise<void>((resolve) => {
      const look = setInterval(() => {
        if (!existsSync(part) || readFileSync(part).length < 300_000) return;
        clearInterval(look);
        resolve();
      }, 5);
    });
    server.cut();
    await failed;
    const second = open();
    expect(second.list()).toMatchObject([{ id: "a", state: "failed", error: { code: "download.no_source" } }]);
    expect(readdirSync(folder())).toEqual(["a.part", "a.part.json"]);
    server.script = [sendFile(file)];
    second.start("a");
    await second.finished("a");
    expect(server.requests[server.requests.length - 1]?.range).toBe("bytes=300000-");
  });

  it("clean up parts that nobody knows any more, and nothing else", () => {
    mkdirSync(folder(), { recursive: true });
    for (const name of ["old.part", "old.part.json", "notes.txt"]) writeFileSync(join(folder(), name), "x");
    mkdirSync(join(folder(), "old.pip"));
    open();
    expect(readdirSync(folder())).toEqual(["notes.txt"]);
  });

  it.each(["{", "5", '{"queue":[null,{"id":5},{"id":"gone"}]}'])("start with a queue file of %j", (text) => {
    mkdirSync(join(root, "data"));
    writeFileSync(join(root, "data", "downloads.json"), text);
    expect(open().list()).toEqual([]);
  });
});

describe("speed", () => {
  it("is that of the last seconds and falls to 0 in a stall", () => {
    let now = 0;
    const speed = createSpeedMeter(() => now);
    for (; now <= 10_000; now += 500) speed.add(now * 100);
    now = 10_000;
    expect(speed.bytesPerSecond()).toBeGreaterThan(90_000);
    expect(speed.bytesPerSecond()).toBeLessThan(120_000);
    now = 14_000;
    expect(speed.bytesPerSecond()).toBe(0);
    speed.add(0);
    now = 15_000;
    speed.add(5000);
    expect(speed.bytesPerSecond()).toBe(5000);
  });
});

describe("ensureStarter", () => {
  const ensure = () =>
    ensureStarter({
      catalogue: catalogue(),
      modelFolders: [join(root, "models"), join(root, "other")],
      folder: folder(),
      tools,
      signal: new AbortController().signal,
      onProgress: () => {},
    });

  it("fetches the starter where there is no model, and nothing where there is one", async () => {
    expect(await ensure()).toEqual({ state: "installed", path: join(root, "models", "a.gguf") });
    expect(await ensure()).toEqual({ state: "present", path: join(root, "models", "a.gguf") });
    expect(server.requests).toHaveLength(1);
  });

  it("takes a model of any folder as one", async () => {
    const path = join(root, "other", "x.gguf");
    mkdirSync(dirname(path));
    writeFileSync(path, "x");
    expect(await ensure()).toEqual({ state: "present", path });
  });

  it("says where to put a file when nothing works", async () => {
    server.script = [sendStatus(404)];
    await expect(ensure()).rejects.toMatchObject({
      code: "download.no_source",
      hint: expect.stringContaining(join(root, "models")),
    });
  });
});

describe("the catalogue that ships", () => {
  it("is well formed, has one starter, and names no file twice", () => {
    const content: unknown = JSON.parse(
      readFileSync(new URL("../../../../resources/catalogue.json", import.meta.url), "utf8"),
    );
    const shipped = createCatalogue(content, root);
    const entries = shipped.list().map((entry) => shipped.get(entry.id));
    expect(entries.filter((entry) => entry.starter)).toHaveLength(1);
    expect(new Set(entries.map((entry) => entry.file)).size).toBe(entries.length);
    expect(shipped.list().every((entry) => !entry.installed)).toBe(true);
  });

  it("is refused when a file name could leave the folder", () => {
    const content = {
      version: 1,
      entries: [{ ...JSON.parse(JSON.stringify(catalogue().get("a"))), file: "../x.gguf" }],
    };
    expect(() => createCatalogue(content, root)).toThrow(expect.objectContaining({ code: "internal" }));
  });
});
