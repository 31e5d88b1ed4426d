import { rmSync, utimesSync } from "node:fs";
import { join } from "node:path";
import { beforeEach, describe, expect, it } from "vitest";
import { type ChatFeatures, modelSchema } from "../../../../app/contract/model.ts";
import { ourSampling } from "../../../../app/contract/session.ts";
import { HalogenError } from "../../../../app/error.ts";
import { plainFeatures } from "../../../fixtures/page/sample.ts";
import { scratchLibrary } from "./scratch-library.ts";

const s = scratchLibrary();
const turn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

describe("scan", () => {
  it("lists what is there with the file's name, and says each change once", async () => {
    s.put("b-Q4_1.gguf");
    s.put("a.gguf");
    const models = await s.library.scan();
    expect(models.map((model) => [model.name, model.state, model.hasTemplate])).toEqual([
      ["a", "available", true],
      ["b", "available", true],
    ]);
    expect(models.every((model) => modelSchema.safeParse(model).success)).toBe(true);
    expect(s.events.map((event) => event.name)).toEqual(["model.changed", "model.changed"]);
    await s.library.scan();
    expect(s.events).toHaveLength(2);
    const [first] = models;
    rmSync(join(s.root, "a.gguf"));
    await s.library.scan();
    expect(s.events.slice(2)).toEqual([{ name: "model.removed", payload: { modelId: first?.id } }]);
    expect(s.library.list()).toHaveLength(1);
  });

  it("lists a model before its chat template was looked at, and tells what that offers when it is known", async () => {
    let found: (features: ChatFeatures | null) => void = () => {};
    s.featuresOf = () =>
      new Promise((resolve) => {
        found = resolve;
      });
    s.put("a.gguf");
    const [listed] = await s.library.scan();
    expect(listed).toMatchObject({ state: "available", features: null });
    const id = listed?.id ?? "";
    const studied = s.library.studied(id);
    found({ ...plainFeatures, tools: true });
    expect(await studied).toMatchObject({ features: { tools: true } });
    expect(s.library.get(id).features?.tools).toBe(true);
    expect(s.events.map((event) => event.name)).toEqual(["model.changed", "model.changed"]);
    expect(s.events[1]).toMatchObject({ payload: { id, features: { tools: true } } });
    await expect(s.library.studied("gone")).rejects.toMatchObject({ code: "model.not_found" });
  });

  it("says it when a chat template could not be looked at, and lists the model all the same", async () => {
    s.featuresOf = async () => {
      throw new HalogenError("internal", "the thread is broken");
    };
    s.put("a.gguf");
    const [listed] = await s.library.scan();
    expect(await s.library.studied(listed?.id ?? "")).toMatchObject({ state: "available", features: null });
    expect(s.events).toContainEqual({
      name: "notice",
      payload: {
        level: "warning",
        message: "The chat template of a.gguf could not be looked at",
        hint: "the thread is broken",
      },
    });
  });

  it("asks the engine once per file, over restarts too, and again when the file or the version changes", async () => {
    s.put("a.gguf");
    await s.library.scan();
    s.library = s.open();
    await s.library.scan();
    expect(s.slow.log).toEqual(["inspect a.gguf"]);
    utimesSync(join(s.root, "a.gguf"), 1, 1);
    await s.library.scan();
    expect(s.slow.log).toEqual(["inspect a.gguf", "inspect a.gguf"]);
    s.library = s.open("2");
    await s.library.scan();
    expect(s.slow.log).toHaveLength(3);
  });

  it.each([null, 5, { version: "1" }, { version: "1", entries: { x: null, y: { key: 1 } } }])(
    "takes a cache of %j as empty",
    async (value) => {
      s.cacheFile = value;
      s.library = s.open();
      s.put("a.gguf");
      expect(await s.library.scan()).toMatchObject([{ state: "available" }]);
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
      s.put(name);
    const cut = new HalogenError("gguf.truncated", "The file ends after 10 of 20 bytes", {
      hint: "Download it again",
      detail: { bytes: 10, expected: 20 },
    });
    s.slow.faults.set("cut.gguf", cut);
    s.slow.changes.set("new.gguf", {
      supported: false,
      architecture: "mamba9",
      problem: 'no support for architecture "mamba9"',
    });
    s.slow.changes.set("format.gguf", { supported: false, problem: "no support for IQ1_S" });
    const errors = Object.fromEntries(
      (await s.library.scan()).map((model) => [model.fileName, model.state === "broken" ? model.error : null]),
    );
    expect(errors["cut.gguf"]).toEqual({
      code: "gguf.truncated",
      message: cut.message,
      hint: cut.hint,
      detail: cut.detail,
    });
    expect(errors["new.gguf"]).toMatchObject({
      code: "model.unknown_architecture",
      hint: "A newer Halogen may be able to load it.",
    });
    expect(errors["format.gguf"]).toMatchObject({
      code: "model.unsupported_format",
      hint: "A newer Halogen may be able to load it.",
    });
    expect(errors["parts-00001-of-00002.gguf"]).toMatchObject({
      code: "file.missing",
      message: expect.stringContaining("part 2"),
    });
    expect(errors["whole-00001-of-00002.gguf"]).toBeNull();
    await expect(s.library.acquire(s.idOf("cut.gguf"))).rejects.toMatchObject({ code: "gguf.truncated" });
    expect(s.library.preferred()?.fileName).toBe("whole-00001-of-00002.gguf");
  });

  it("shows a split model once, whichever of its files is named", async () => {
    s.put("sub/m-00001-of-00002.gguf", 7);
    s.put("sub/m-00002-of-00002.gguf", 5);
    const models = await s.library.scan();
    expect(models).toMatchObject([{ fileName: "m-00001-of-00002.gguf", bytes: 12, state: "available" }]);
    const second = join(s.root, "sub", "m-00002-of-00002.gguf");
    expect(await s.library.resolve(second)).toEqual(models[0]);
    expect(s.slow.log).toHaveLength(1);
    expect(s.library.list()).toHaveLength(1);
  });

  it("does not call a file broken because the engine is away, and looks again when the file is wanted", async () => {
    s.put("a.gguf");
    s.slow.faults.set("a.gguf", new HalogenError("engine.unavailable", "not there"));
    expect(await s.library.scan()).toMatchObject([{ state: "available", error: { code: "engine.unavailable" } }]);
    s.slow.faults.clear();
    const acquired = s.library.acquire(s.idOf("a.gguf"));
    (await s.slow.load(0)).finish();
    expect((await acquired).inspection.architecture).toBe("llama");
  });

  it("shares one look between callers and misses no change during it", async () => {
    s.put("a.gguf");
    const first = s.library.scan();
    s.put("b.gguf");
    expect(await s.library.scan()).toHaveLength(2);
    await first;
    expect(s.slow.log.sort()).toEqual(["inspect a.gguf", "inspect b.gguf"]);
  });

  it("takes sampling hints from the file and ours otherwise", async () => {
    s.put("a.gguf");
    s.slow.changes.set("a.gguf", { metadata: { "general.sampling.temp": 0.6, "general.sampling.top_k": 20.0 } });
    expect(await s.library.scan()).toMatchObject([
      { defaults: { ...ourSampling, temperature: 0.6, topK: 20 }, hints: ["temperature", "topK"] },
    ]);
  });
});

describe("acquire", () => {
  beforeEach(async () => {
    s.put("a.gguf");
    s.put("b.gguf");
    await s.library.scan();
    s.events = [];
  });

  it("loads once for many, with progress for all and s.events for the page", async () => {
    const seen: number[][] = [[], []];
    const both = seen.map((list) => s.library.acquire(s.idOf("a.gguf"), { onProgress: ({ done }) => list.push(done) }));
    const load = await s.slow.load(0);
    expect(s.stateOf("a.gguf")).toBe("loading");
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
      [1, join(s.root, "a.gguf")],
      [1, join(s.root, "a.gguf")],
    ]);
    expect(leases[0]?.model).toMatchObject({ state: "loaded", plan: { contextLength: 8192 } });
    expect(s.slow.log.filter((line) => line.startsWith("load"))).toEqual(["load a.gguf"]);
    expect(
      s.events.map((event) =>
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
    const first = s.library.acquire(s.idOf("a.gguf"));
    (await s.slow.load(0)).finish();
    const lease = await first;
    const second = s.library.acquire(s.idOf("b.gguf"));
    await turn();
    expect(s.slow.log.filter((line) => !line.startsWith("inspect"))).toEqual(["load a.gguf"]);
    lease.release();
    lease.release();
    (await s.slow.load(1)).finish();
    expect((await second).loaded.handle).toBe(2);
    expect(s.slow.log.filter((line) => !line.startsWith("inspect"))).toEqual([
      "load a.gguf",
      "unload 1",
      "load b.gguf",
    ]);
    expect([s.stateOf("a.gguf"), s.stateOf("b.gguf")]).toEqual(["available", "loaded"]);
  });

  it("keeps the order: who comes back for the first model waits behind who asked for another", async () => {
    const first = s.library.acquire(s.idOf("a.gguf"));
    (await s.slow.load(0)).finish();
    const lease = await first;
    const order: string[] = [];
    const second = s.library.acquire(s.idOf("b.gguf")).then((each) => {
      order.push("b");
      each.release();
    });
    const third = s.library.acquire(s.idOf("a.gguf")).then(() => order.push("a"));
    lease.release();
    (await s.slow.load(1)).finish();
    await second;
    (await s.slow.load(2)).finish();
    await third;
    expect(order).toEqual(["b", "a"]);
  });

  it("stops in line and while loading, and the next one still gets its turn", async () => {
    const first = s.library.acquire(s.idOf("a.gguf"));
    (await s.slow.load(0)).finish();
    const lease = await first;
    const waiting = new AbortController();
    const second = s.library.acquire(s.idOf("b.gguf"), { signal: waiting.signal });
    const third = s.library.acquire(s.idOf("a.gguf"));
    await turn();
    waiting.abort();
    await expect(second).rejects.toMatchObject({ code: "request.cancelled" });
    expect((await third).loaded.handle).toBe(1);
    (await third).release();
    lease.release();

    const loading = new AbortController();
    const fourth = s.library.acquire(s.idOf("b.gguf"), { signal: loading.signal });
    await s.slow.load(1);
    loading.abort();
    await expect(fourth).rejects.toMatchObject({ code: "request.cancelled" });
    expect(s.library.get(s.idOf("b.gguf"))).toMatchObject({ state: "available", error: null });
    const fifth = s.library.acquire(s.idOf("b.gguf"));
    (await s.slow.load(2)).finish();
    expect((await fifth).model.state).toBe("loaded");
    await expect(s.library.acquire(s.idOf("b.gguf"), { signal: loading.signal })).rejects.toMatchObject({
      code: "request.cancelled",
    });
  });

  it("shows why a load failed and can try again", async () => {
    const failing = s.library.acquire(s.idOf("a.gguf"));
    (await s.slow.load(0)).fail(new HalogenError("memory.exhausted", "12 GB needed, 8 GB free"));
    await expect(failing).rejects.toMatchObject({ code: "memory.exhausted" });
    expect(s.library.get(s.idOf("a.gguf"))).toMatchObject({ state: "available", error: { code: "memory.exhausted" } });
    const again = s.library.acquire(s.idOf("a.gguf"));
    (await s.slow.load(1)).finish();
    expect((await again).model.error).toBeNull();
  });

  it("makes a model that is loaded ready for a format, and no other", async () => {
    await s.library.prepareFormat(s.idOf("a.gguf"));
    const lease = s.library.acquire(s.idOf("a.gguf"));
    (await s.slow.load(0)).finish();
    const { loaded } = await lease;
    await s.library.prepareFormat(s.idOf("a.gguf"));
    await s.library.prepareFormat(s.idOf("b.gguf"));
    s.library.engineLost();
    await s.library.prepareFormat(s.idOf("a.gguf"));
    expect(s.slow.log.filter((line) => line.startsWith("prepare"))).toEqual([`prepare ${loaded.handle}`]);
    await expect(s.library.prepareFormat("gone")).rejects.toMatchObject({ code: "model.not_found" });
  });

  it("loads again with changed s.settings once nobody uses it", async () => {
    const first = s.library.acquire(s.idOf("a.gguf"));
    (await s.slow.load(0)).finish();
    const lease = await first;
    s.settings.contextLength = 1024;
    const same = await s.library.acquire(s.idOf("a.gguf"));
    expect(same.loaded.handle).toBe(1);
    same.release();
    lease.release();
    const next = s.library.acquire(s.idOf("a.gguf"));
    const load = await s.slow.load(1);
    expect(load.options.contextLength).toBe(1024);
    load.finish();
    expect((await next).loaded.plan.contextLength).toBe(1024);
  });

  it("does not unload what is in use, ends a load that is not wanted any more, and is empty after a crash", async () => {
    const first = s.library.acquire(s.idOf("a.gguf"));
    (await s.slow.load(0)).finish();
    const lease = await first;
    await expect(s.library.unload(s.idOf("a.gguf"))).rejects.toMatchObject({ code: "session.busy" });
    lease.release();
    expect((await s.library.unload(s.idOf("a.gguf"))).state).toBe("available");
    expect(s.slow.log).toContain("unload 1");

    const second = s.library.load(s.idOf("a.gguf"));
    await s.slow.load(1);
    const stopped = expect(second).rejects.toMatchObject({ code: "request.cancelled" });
    await s.library.unload(s.idOf("a.gguf"));
    await stopped;

    const third = s.library.load(s.idOf("a.gguf"));
    (await s.slow.load(2)).finish();
    expect((await third).state).toBe("loaded");
    s.library.engineLost();
    expect(s.stateOf("a.gguf")).toBe("available");
    const fourth = s.library.load(s.idOf("a.gguf"));
    (await s.slow.load(3)).finish();
    expect((await fourth).state).toBe("loaded");
  });

  it("wakes who waits for a model in use when the engine is lost", async () => {
    const first = s.library.acquire(s.idOf("a.gguf"));
    (await s.slow.load(0)).finish();
    const lease = await first;
    const second = s.library.acquire(s.idOf("b.gguf"));
    await turn();
    s.library.engineLost();
    (await s.slow.load(1)).finish();
    expect((await second).model.fileName).toBe("b.gguf");
    lease.release();
    expect(s.stateOf("b.gguf")).toBe("loaded");
  });

  it("frees what a crash left behind, once nobody holds it, exactly once", async () => {
    const unloads = (): string[] => s.slow.log.filter((line) => line.startsWith("unload"));
    const first = s.library.acquire(s.idOf("a.gguf"));
    (await s.slow.load(0)).finish();
    const lease = await first;
    s.library.engineLost();
    expect(unloads()).toEqual([]);
    lease.release();
    lease.release();
    expect(unloads()).toEqual(["unload 1"]);
    const second = s.library.load(s.idOf("a.gguf"));
    (await s.slow.load(1)).finish();
    await second;
    s.library.engineLost();
    s.library.engineLost();
    expect(unloads()).toEqual(["unload 1", "unload 2"]);
  });

  it("keeps a model listed while its file is gone but in use", async () => {
    const first = s.library.acquire(s.idOf("a.gguf"));
    (await s.slow.load(0)).finish();
    const lease = await first;
    rmSync(join(s.root, "a.gguf"));
    expect(await s.library.scan()).toHaveLength(2);
    lease.release();
    await s.library.unload(s.idOf("a.gguf"));
    expect(await s.library.scan()).toHaveLength(1);
  });

  it("ends a load when it closes and takes no more", async () => {
    const first = s.library.acquire(s.idOf("a.gguf"));
    await s.slow.load(0);
    const stopped = expect(first).rejects.toMatchObject({ code: "request.cancelled" });
    await s.library.close();
    await stopped;
    await expect(s.library.acquire(s.idOf("a.gguf"))).rejects.toMatchObject({ code: "engine.unavailable" });
  });
});
