import { mkdirSync, mkdtempSync, rmSync, utimesSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import type { AnyEvent } from "../../../../app/contract/event.ts";
import { modelSchema } from "../../../../app/contract/model.ts";
import type { Engine, LoadedModel, LoadOptions, MemoryPlan, ModelInspection } from "../../../../app/engine.ts";
import { HalogenError } from "../../../../app/error.ts";
import { createInspectionCache } from "../../../../main/model/inspection-cache.ts";
import { createLibrary, type Library } from "../../../../main/model/library.ts";

type LoadCall = {
  path: string;
  options: LoadOptions;
  progress: (done: number, total: number) => void;
  finish: () => void;
  fail: (error: HalogenError) => void;
};

/** An engine whose loads end when the test says so. */
function createSlowEngine() {
  const log: string[] = [];
  const loads: LoadCall[] = [];
  const faults = new Map<string, HalogenError>();
  const changes = new Map<string, Partial<ModelInspection>>();
  const wakers: (() => void)[] = [];
  let handle = 0;
  const plan = (options: LoadOptions): MemoryPlan => ({
    contextLength: options.contextLength || 8192,
    kvType: options.kvType,
    weights: 10,
    kv: 1,
    recurrent: 0,
    checkpoints: 0,
    scratch: 1,
    total: 12,
    available: 100,
    fits: true,
    reason: "",
  });
  const engine: Pick<Engine, "info" | "inspect" | "plan" | "load" | "unload"> = {
    info: async () => ({ version: "1", devices: [], chosen: "cpu", threads: 1, architectures: ["llama"], formats: [] }),
    async inspect(path) {
      const name = path.slice(dirname(path).length + 1);
      log.push(`inspect ${name}`);
      const fault = faults.get(name);
      if (fault !== undefined) throw fault;
      return {
        path,
        bytes: 10,
        architecture: "llama",
        supported: true,
        problem: "",
        name: "junk from training",
        sizeLabel: "",
        parameters: 135e6,
        format: "Q4_1",
        formats: {},
        contextLength: 8192,
        embeddingLength: 1,
        blockCount: 1,
        headCount: 1,
        vocabularySize: 1,
        template: "{{ x }}",
        metadata: {},
        ...changes.get(name),
      };
    },
    plan: async (options) => plan(options),
    load(options, onProgress, signal) {
      const name = options.path.slice(dirname(options.path).length + 1);
      log.push(`load ${name}`);
      return new Promise<LoadedModel>((resolve, reject) => {
        signal?.addEventListener("abort", () => {
          log.push(`aborted ${name}`);
          reject(new HalogenError("request.cancelled", "cancelled"));
        });
        loads.push({
          path: options.path,
          options,
          progress: (done, total) => onProgress?.({ phase: "load", done, total }),
          finish: () => resolve({ handle: ++handle, backend: "cpu", plan: plan(options), loadMilliseconds: 1 }),
          fail: reject,
        });
        for (const wake of wakers.splice(0)) wake();
      });
    },
    async unload(which) {
      log.push(`unload ${which}`);
    },
  };
  /** The load number `index`, once the engine was asked for it. */
  async function load(index: number): Promise<LoadCall> {
    for (;;) {
      const found = loads[index];
      if (found !== undefined) return found;
      await new Promise<void>((resolve) => wakers.push(resolve));
    }
  }
  return { engine, log, loads, load, faults, changes };
}

let root = "";
let events: AnyEvent[] = [];
let slow = createSlowEngine();
let settings = { contextLength: 0, kvType: "f16" as const, threads: 0, defaultModelId: null as string | null };
let cacheFile: unknown = null;
let library: Library;

beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), "halogen 模型 é "));
  events = [];
  slow = createSlowEngine();
  settings = { contextLength: 0, kvType: "f16", threads: 0, defaultModelId: null };
  cacheFile = null;
  library = open();
});
afterEach(async () => {
  await library.close();
  rmSync(root, { recursive: true, force: true });
});

function open(version = "1"): Library {
  const cache = createInspectionCache({
    version,
    read: () => cacheFile,
    write: (value) => {
      cacheFile = JSON.parse(JSON.stringify(value));
    },
  });
  return createLibrary({
    folders: [root],
    engine: slow.engine,
    settings: () => settings,
    cache,
    emit: (event) => events.push(event),
  });
}

function put(name: string, bytes = 10): void {
  mkdirSync(dirname(join(root, name)), { recursive: true });
  writeFileSync(join(root, name), Buffer.alloc(bytes));
}

const idOf = (fileName: string): string => library.list().find((model) => model.fileName === fileName)?.id ?? "";
const stateOf = (fileName: string): string => library.get(idOf(fileName)).state;
const turn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

describe("scan", () => {
  it("lists what is there with the file's name, and says each change once", async () => {
    put("b-Q4_1.gguf");
    put("a.gguf");
    const models = await library.scan();
    expect(models.map((model) => [model.name, model.state, model.hasTemplate])).toEqual([
      ["a", "available", true],
      ["b", "available", true],
    ]);
    expect(models.every((model) => modelSchema.safeParse(model).success)).toBe(true);
    expect(events.map((event) => event.name)).toEqual(["model.changed", "model.changed"]);
    await library.scan();
    expect(events).toHaveLength(2);
    const [first] = models;
    rmSync(join(root, "a.gguf"));
    await library.scan();
    expect(events.slice(2)).toEqual([{ name: "model.removed", payload: { modelId: first?.id } }]);
    expect(library.list()).toHaveLength(1);
  });

  it("asks the engine once per file, over restarts too, and again when the file or the version changes", async () => {
    put("a.gguf");
    await library.scan();
    library = open();
    await library.scan();
    expect(slow.log).toEqual(["inspect a.gguf"]);
    utimesSync(join(root, "a.gguf"), 1, 1);
    await library.scan();
    expect(slow.log).toEqual(["inspect a.gguf", "inspect a.gguf"]);
    library = open("2");
    await library.scan();
    expect(slow.log).toHaveLength(3);
  });

  it.each([null, 5, { version: "1" }, { version: "1", entries: { x: null, y: { key: 1 } } }])(
    "takes a cache of %j as empty",
    async (value) => {
      cacheFile = value;
      library = open();
      put("a.gguf");
      expect(await library.scan()).toMatchObject([{ state: "available" }]);
    },
  );

  it("lists a broken file with its exact error, and a good one of an unknown kind as fine", async () => {
    for (const name of [
      "cut.gguf",
      "new.gguf",
      "format.gguf",
      "parts-00001-of-00002.gguf",
      "whole-00001-of-00002.gguf",
      "whole-00002-of-00002.gguf",
    ])
      put(name);
    const cut = new HalogenError("gguf.truncated", "The file ends after 10 of 20 bytes", {
      hint: "Download it again",
      detail: { bytes: 10, expected: 20 },
    });
    slow.faults.set("cut.gguf", cut);
    slow.changes.set("new.gguf", {
      supported: false,
      architecture: "mamba9",
      problem: 'no support for architecture "mamba9"',
    });
    slow.changes.set("format.gguf", { supported: false, problem: "no support for IQ1_S" });
    const errors = Object.fromEntries(
      (await library.scan()).map((model) => [model.fileName, model.state === "broken" ? model.error : null]),
    );
    expect(errors["cut.gguf"]).toEqual({
      code: "gguf.truncated",
      message: cut.message,
      hint: cut.hint,
      detail: cut.detail,
    });
    expect(errors["new.gguf"]).toMatchObject({
      code: "model.unknown_architecture",
      hint: expect.stringContaining("This file is fine"),
    });
    expect(errors["format.gguf"]).toMatchObject({
      code: "model.unsupported_format",
      hint: expect.stringContaining("This file is fine"),
    });
    expect(errors["parts-00001-of-00002.gguf"]).toMatchObject({
      code: "file.missing",
      message: expect.stringContaining("part 2"),
    });
    expect(errors["whole-00001-of-00002.gguf"]).toMatchObject({
      code: "model.unsupported_format",
      hint: expect.stringContaining("files are fine"),
    });
    await expect(library.acquire(idOf("cut.gguf"))).rejects.toMatchObject({ code: "gguf.truncated" });
    expect(library.preferred()).toBeNull();
  });

  it("does not call a file broken because the engine is away, and looks again when the file is wanted", async () => {
    put("a.gguf");
    slow.faults.set("a.gguf", new HalogenError("engine.unavailable", "not there"));
    expect(await library.scan()).toMatchObject([{ state: "available", error: { code: "engine.unavailable" } }]);
    slow.faults.clear();
    const acquired = library.acquire(idOf("a.gguf"));
    (await slow.load(0)).finish();
    expect((await acquired).inspection.architecture).toBe("llama");
  });

  it("shares one look between callers and misses no change during it", async () => {
    put("a.gguf");
    const first = library.scan();
    put("b.gguf");
    expect(await library.scan()).toHaveLength(2);
    await first;
    expect(slow.log.sort()).toEqual(["inspect a.gguf", "inspect b.gguf"]);
  });

  it("takes sampling hints from the file and ours otherwise", async () => {
    put("a.gguf");
    slow.changes.set("a.gguf", { metadata: { "general.sampling.temp": 0.6, "general.sampling.top_k": 20.0 } });
    expect(await library.scan()).toMatchObject([{ defaults: { temperature: 0.6, topK: 20, topP: 0.95, minP: 0.05 } }]);
  });
});

describe("acquire", () => {
  beforeEach(async () => {
    put("a.gguf");
    put("b.gguf");
    await library.scan();
    events = [];
  });

  it("loads once for many, with progress for all and events for the page", async () => {
    const seen: number[][] = [[], []];
    const both = seen.map((list) => library.acquire(idOf("a.gguf"), { onProgress: ({ done }) => list.push(done) }));
    const load = await slow.load(0);
    expect(stateOf("a.gguf")).toBe("loading");
    load.progress(25, 100);
    load.progress(25.2, 100);
    load.progress(100, 100);
    load.finish();
    const leases = await Promise.all(both);
    expect(seen).toEqual([
      [25, 25.2, 100],
      [25, 25.2, 100],
    ]);
    expect(leases.map((lease) => [lease.loaded.handle, lease.path])).toEqual([
      [1, join(root, "a.gguf")],
      [1, join(root, "a.gguf")],
    ]);
    expect(leases[0]?.model).toMatchObject({ state: "loaded", plan: { contextLength: 8192 } });
    expect(slow.log.filter((line) => line.startsWith("load"))).toEqual(["load a.gguf"]);
    expect(
      events.map((event) =>
        event.name === "model.changed" ? [event.payload.state, event.payload.progress] : event.name,
      ),
    ).toEqual([
      ["loading", 0],
      ["loading", 0.25],
      ["loading", 1],
      ["loaded", null],
    ]);
  });

  it("lets another model wait until the first is free, then takes its place", async () => {
    const first = library.acquire(idOf("a.gguf"));
    (await slow.load(0)).finish();
    const lease = await first;
    const second = library.acquire(idOf("b.gguf"));
    await turn();
    expect(slow.log.filter((line) => !line.startsWith("inspect"))).toEqual(["load a.gguf"]);
    lease.release();
    lease.release();
    (await slow.load(1)).finish();
    expect((await second).loaded.handle).toBe(2);
    expect(slow.log.filter((line) => !line.startsWith("inspect"))).toEqual(["load a.gguf", "unload 1", "load b.gguf"]);
    expect([stateOf("a.gguf"), stateOf("b.gguf")]).toEqual(["available", "loaded"]);
  });

  it("keeps the order: who comes back for the first model waits behind who asked for another", async () => {
    const first = library.acquire(idOf("a.gguf"));
    (await slow.load(0)).finish();
    const lease = await first;
    const order: string[] = [];
    const second = library.acquire(idOf("b.gguf")).then((each) => {
      order.push("b");
      each.release();
    });
    const third = library.acquire(idOf("a.gguf")).then(() => order.push("a"));
    lease.release();
    (await slow.load(1)).finish();
    await second;
    (await slow.load(2)).finish();
    await third;
    expect(order).toEqual(["b", "a"]);
  });

  it("stops in line and while loading, and the next one still gets its turn", async () => {
    const first = library.acquire(idOf("a.gguf"));
    (await slow.load(0)).finish();
    const lease = await first;
    const waiting = new AbortController();
    const second = library.acquire(idOf("b.gguf"), { signal: waiting.signal });
    const third = library.acquire(idOf("a.gguf"));
    await turn();
    waiting.abort();
    await expect(second).rejects.toMatchObject({ code: "request.cancelled" });
    expect((await third).loaded.handle).toBe(1);
    (await third).release();
    lease.release();

    const loading = new AbortController();
    const fourth = library.acquire(idOf("b.gguf"), { signal: loading.signal });
    await slow.load(1);
    loading.abort();
    await expect(fourth).rejects.toMatchObject({ code: "request.cancelled" });
    expect(library.get(idOf("b.gguf"))).toMatchObject({ state: "available", error: null });
    const fifth = library.acquire(idOf("b.gguf"));
    (await slow.load(2)).finish();
    expect((await fifth).model.state).toBe("loaded");
    await expect(library.acquire(idOf("b.gguf"), { signal: loading.signal })).rejects.toMatchObject({
      code: "request.cancelled",
    });
  });

  it("shows why a load failed and can try again", async () => {
    const failing = library.acquire(idOf("a.gguf"));
    (await slow.load(0)).fail(new HalogenError("memory.exhausted", "12 GB needed, 8 GB free"));
    await expect(failing).rejects.toMatchObject({ code: "memory.exhausted" });
    expect(library.get(idOf("a.gguf"))).toMatchObject({ state: "available", error: { code: "memory.exhausted" } });
    const again = library.acquire(idOf("a.gguf"));
    (await slow.load(1)).finish();
    expect((await again).model.error).toBeNull();
  });

  it("loads again with changed settings once nobody uses it", async () => {
    const first = library.acquire(idOf("a.gguf"));
    (await slow.load(0)).finish();
    const lease = await first;
    settings.contextLength = 1024;
    const same = await library.acquire(idOf("a.gguf"));
    expect(same.loaded.handle).toBe(1);
    same.release();
    lease.release();
    const next = library.acquire(idOf("a.gguf"));
    const load = await slow.load(1);
    expect(load.options.contextLength).toBe(1024);
    load.finish();
    expect((await next).loaded.plan.contextLength).toBe(1024);
  });

  it("does not unload what is in use, ends a load that is not wanted any more, and is empty after a crash", async () => {
    const first = library.acquire(idOf("a.gguf"));
    (await slow.load(0)).finish();
    const lease = await first;
    await expect(library.unload(idOf("a.gguf"))).rejects.toMatchObject({ code: "session.busy" });
    lease.release();
    expect((await library.unload(idOf("a.gguf"))).state).toBe("available");
    expect(slow.log).toContain("unload 1");

    const second = library.load(idOf("a.gguf"));
    await slow.load(1);
    const stopped = expect(second).rejects.toMatchObject({ code: "request.cancelled" });
    await library.unload(idOf("a.gguf"));
    await stopped;

    const third = library.load(idOf("a.gguf"));
    (await slow.load(2)).finish();
    expect((await third).state).toBe("loaded");
    library.engineLost();
    expect(stateOf("a.gguf")).toBe("available");
    const fourth = library.load(idOf("a.gguf"));
    (await slow.load(3)).finish();
    expect((await fourth).state).toBe("loaded");
  });

  it("wakes who waits for a model in use when the engine is lost", async () => {
    const first = library.acquire(idOf("a.gguf"));
    (await slow.load(0)).finish();
    const lease = await first;
    const second = library.acquire(idOf("b.gguf"));
    await turn();
    library.engineLost();
    (await slow.load(1)).finish();
    expect((await second).model.fileName).toBe("b.gguf");
    lease.release();
    expect(stateOf("b.gguf")).toBe("loaded");
  });

  it("keeps a model listed while its file is gone but in use", async () => {
    const first = library.acquire(idOf("a.gguf"));
    (await slow.load(0)).finish();
    const lease = await first;
    rmSync(join(root, "a.gguf"));
    expect(await library.scan()).toHaveLength(2);
    lease.release();
    await library.unload(idOf("a.gguf"));
    expect(await library.scan()).toHaveLength(1);
  });

  it("ends a load when it closes and takes no more", async () => {
    const first = library.acquire(idOf("a.gguf"));
    await slow.load(0);
    const stopped = expect(first).rejects.toMatchObject({ code: "request.cancelled" });
    await library.close();
    await stopped;
    await expect(library.acquire(idOf("a.gguf"))).rejects.toMatchObject({ code: "engine.unavailable" });
  });
});

describe("choosing", () => {
  it("finds a model by id, name, file name or path", async () => {
    put("Sub/SmolLM2-135M.Q4_1.gguf");
    put("other.gguf");
    await library.scan();
    const id = idOf("SmolLM2-135M.Q4_1.gguf");
    for (const reference of [id, "smollm2-135m", "SmolLM2-135M.q4_1.GGUF", join(root, "Sub/SmolLM2-135M.Q4_1.gguf")]) {
      expect((await library.resolve(reference)).id).toBe(id);
    }
    await expect(library.resolve("nope")).rejects.toMatchObject({
      code: "model.not_found",
      hint: expect.stringContaining("other.gguf"),
    });
    await expect(library.resolve(join(root, "gone.gguf"))).rejects.toMatchObject({ code: "file.missing" });
    expect(() => library.get("nope")).toThrow(expect.objectContaining({ code: "model.not_found" }));
  });

  it("adds a file from elsewhere and keeps it over a scan", async () => {
    const elsewhere = mkdtempSync(join(tmpdir(), "halogen-elsewhere-"));
    try {
      writeFileSync(join(elsewhere, "x.gguf"), "x");
      const model = await library.resolve(join(elsewhere, "x.gguf"));
      expect((await library.scan()).map((each) => each.id)).toEqual([model.id]);
    } finally {
      rmSync(elsewhere, { recursive: true });
    }
  });

  it("prefers the model that is set, else the first that works", async () => {
    expect(library.preferred()).toBeNull();
    put("a.gguf");
    put("b.gguf");
    put("c.gguf");
    slow.faults.set("a.gguf", new HalogenError("gguf.empty", "empty"));
    await library.scan();
    expect(library.preferred()?.fileName).toBe("b.gguf");
    settings.defaultModelId = idOf("c.gguf");
    expect(library.preferred()?.fileName).toBe("c.gguf");
    settings.defaultModelId = idOf("a.gguf");
    expect(library.preferred()?.fileName).toBe("b.gguf");
  });

  it("plans with the present settings and shows it", async () => {
    put("a.gguf");
    await library.scan();
    settings.contextLength = 2048;
    expect((await library.plan(idOf("a.gguf"))).contextLength).toBe(2048);
    expect(library.get(idOf("a.gguf")).plan?.total).toBe(12);
  });
});

describe("watch", () => {
  it("sees a file that is put into the folder", async () => {
    const seen = new Promise<AnyEvent>((resolve) => {
      library = createLibrary({
        folders: [root],
        engine: slow.engine,
        settings: () => settings,
        cache: createInspectionCache({ version: "1", read: () => null, write: () => {} }),
        emit: resolve,
        watch: true,
      });
    });
    put("new.gguf");
    // The watch keeps no process alive, so the test does.
    const alive = setInterval(() => {}, 1000);
    expect(await seen).toMatchObject({ name: "model.changed", payload: { fileName: "new.gguf" } });
    clearInterval(alive);
  });
});
