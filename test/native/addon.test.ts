/** What only the addon can get wrong: loading, checking its own options, threads, back-pressure, aborts. */
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { Engine } from "../../app/engine.ts";
import { HalogenError } from "../../app/error.ts";
import { createNativeEngine, type NativeEngineOptions } from "../../native/index.ts";
import { addonCandidates } from "../../native/load.ts";
import { failure, readAll } from "../fixtures/engine-contract.ts";
import { generateRequest, loadOptions } from "../fixtures/engine-request.ts";
import { starterModel, storyPrompt } from "../fixtures/starter-model.ts";

function thrown(work: () => unknown): HalogenError {
  try {
    work();
  } catch (error) {
    expect(error).toBeInstanceOf(HalogenError);
    return error as HalogenError;
  }
  throw new Error("it did not throw");
}

describe("loading halogen.node", () => {
  const folder = mkdtempSync(join(tmpdir(), "halogen-addon-"));
  afterAll(() => rmSync(folder, { recursive: true }));

  test("that is not there says what was tried and what to do", () => {
    const path = join(folder, "none.node");
    const error = thrown(() => createNativeEngine({ addonPath: path }));
    expect(error.code).toBe("engine.unavailable");
    expect(error.message).toContain(`${path}: not there`);
    expect(error.hint).toContain("npm run build");
  });

  test("that is no machine code says what the system said", () => {
    const path = join(folder, "text.node");
    writeFileSync(path, "this is text");
    const error = thrown(() => createNativeEngine({ addonPath: path }));
    expect(error.code).toBe("engine.unavailable");
    expect(error.message).toMatch(/text\.node: .*(ELF|invalid|file too short)/i);
  });

  test("looks beside an asar archive, never in it, and upwards to the build", () => {
    const candidates = addonCandidates(undefined, join("/opt", "app.asar", "dist", "main"));
    expect(candidates).toContain(join("/opt", "app.asar.unpacked", "build", "Release", "halogen.node"));
    expect(candidates.filter((path) => /app\.asar[\\/]/.test(path))).toEqual([]);
    expect(addonCandidates("/only/this.node")).toEqual(["/only/this.node"]);
  });

  const bad: [string, NativeEngineOptions][] = [
    ["threads", { threads: -1 }],
    ["cpuVariant", { cpuVariant: "sse9" as "avx2" }],
    ["pinThreads", { pinThreads: 1 as unknown as boolean }],
    ["addonPath", { addonPath: "" }],
  ];
  test.each(bad)("refuses a bad %s by name", (parameter, options) => {
    const error = thrown(() => createNativeEngine(options));
    expect(error.code).toBe("request.invalid");
    expect(error.message).toContain(parameter);
  });
});

describe("the addon", () => {
  let engine: Engine;
  let handle: number;
  const path = starterModel();
  const long = (length: number): Int32Array =>
    Int32Array.from({ length }, (_, index) => storyPrompt[index % storyPrompt.length] ?? 1);

  beforeAll(async () => {
    engine = createNativeEngine();
    handle = (await engine.load(loadOptions(path, { contextLength: 4096 }))).handle;
  });
  afterAll(() => engine.close());

  test("gives errors of the engine with its code, its numbers and its hint", async () => {
    const error = await failure(engine.inspect(import.meta.filename));
    expect(error).toBeInstanceOf(HalogenError);
    expect(error.code).toBe("gguf.not_gguf");
    expect(error.message).toContain("text file");
    const truncated = await failure(engine.generate(generateRequest(handle, new Int32Array(5000).fill(1))).outcome);
    expect(truncated.detail).toMatchObject({ tokens: 5000 });
  });

  test("never blocks the thread that calls it: timers run during a load and a prefill", async () => {
    let ticks = 0;
    const timer = setInterval(() => ticks++, 1);
    const loading = engine.load(loadOptions(path));
    const model = await loading;
    expect(ticks).toBeGreaterThan(3);
    await engine.unload(model.handle);
    ticks = 0;
    const generation = engine.generate(generateRequest(handle, long(1000), { maxTokens: 1 }));
    await readAll(generation);
    expect((await generation.outcome).recomputed).toBeGreaterThan(900);
    expect(ticks).toBeGreaterThan(3);
    clearInterval(timer);
  });

  test("stops making tokens when nobody reads them", async () => {
    const unread = engine.generate(generateRequest(handle, storyPrompt, { maxTokens: 2000 }));
    const batches = unread[Symbol.asyncIterator]();
    await batches.next();
    // Another reply is the clock: they take turns, so an engine that does not wait makes as many tokens for both.
    const clock = engine.generate(generateRequest(handle, storyPrompt, { maxTokens: 120 }));
    expect((await readAll(clock)).length).toBe(120);
    unread.cancel();
    const outcome = await unread.outcome;
    expect(outcome.cause).toBe("cancelled");
    expect(outcome.generatedTokens).toBeLessThan(80);
  });

  test("cancels a prefill before it is done", async () => {
    const tokens = long(3500).map((id, index) => (index % 7 === 3 ? 253 : id));
    const generation = engine.generate(generateRequest(handle, tokens), () => generation.cancel());
    expect(await readAll(generation)).toEqual([]);
    const outcome = await generation.outcome;
    expect(outcome).toMatchObject({ cause: "cancelled", generatedTokens: 0 });
  });

  test("aborts a load on its first sign of life, and leaves nothing of it", async () => {
    const weights = async (): Promise<number> =>
      (await engine.memory()).find((pool) => pool.name === "weights")?.used ?? Number.NaN;
    const before = await weights();
    const control = new AbortController();
    const error = await failure(engine.load(loadOptions(path), () => control.abort(), control.signal));
    expect(error.code).toBe("request.cancelled");
    expect(await weights()).toBe(before);
  });

  test("loads, replies and unloads again and again without keeping memory", async () => {
    const cycle = async (): Promise<number> => {
      const model = await engine.load(loadOptions(path));
      await readAll(engine.generate(generateRequest(model.handle, storyPrompt, { maxTokens: 1 })));
      await engine.unload(model.handle);
      return process.memoryUsage.rss();
    };
    await cycle();
    const settled = await cycle();
    let last = settled;
    for (let round = 0; round < 6; round++) last = await cycle();
    // A model is 160 MB: what one load keeps in six rounds would show.
    expect((last - settled) / 1e6).toBeLessThan(60);
  });

  test("two engines do not know each other's models", async () => {
    const other = createNativeEngine({ threads: 1 });
    expect((await failure(other.unload(handle))).code).toBe("model.not_loaded");
    await other.close();
    expect((await readAll(engine.generate(generateRequest(handle, storyPrompt, { maxTokens: 2 })))).length).toBe(2);
  });

  test("a path with letters of every kind is read", async () => {
    const folder = mkdtempSync(join(tmpdir(), "模型　é😀 "));
    const file = join(folder, "ein Modell.gguf");
    writeFileSync(file, "GGUF");
    const error = await failure(engine.inspect(file));
    expect(error.code).toBe("gguf.truncated");
    rmSync(folder, { recursive: true });
  });
});
