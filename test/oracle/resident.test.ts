/** A plan beside what the system says that the process took: nothing of weight is held besides the pools, and the pools hold what was written to them. */
import { existsSync, readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { createNativeEngine } from "../../native/index.ts";
import { loadOptions } from "../fixtures/engine-request.ts";
import { gemmaPath, syntheticModel } from "../fixtures/real-model.ts";
import { starterModel } from "../fixtures/starter-model.ts";

const context = 2048;
const files = [
  { title: "SmolLM2 135M Q4_1", path: starterModel },
  { title: "Gemma 3 270M Q4_K_M", path: () => gemmaPath },
  { title: "a synthetic qwen35moe", path: () => syntheticModel("mini") },
];
/** Bytes for what is no pool: the vocabulary, the ids, the heap of JavaScript around them. */
const besides = 24 * 2 ** 20;

/** Bytes of this process that are no file's. */
function held(): number {
  globalThis.gc?.();
  const status = readFileSync("/proc/self/status", "utf8");
  return 1024 * Number(/^RssAnon:\s+(\d+)/m.exec(status)?.[1]);
}

describe.runIf(process.platform === "linux").each(files)("$title", ({ path }) => {
  it.skipIf(!existsSync(path()))("takes the memory that its plan names, when its whole context is filled", async () => {
    const engine = createNativeEngine();
    try {
      const before = held();
      const { handle, plan } = await engine.load(loadOptions(path(), { contextLength: context, kvType: "f16" }));
      const generation = engine.generate({
        handle,
        tokens: Int32Array.from({ length: context - 1 }, (_, i) => 100 + ((i * 7919) % 30_000)),
        sampling: { temperature: 0, topK: 0, topP: 1, minP: 0, seed: 1 },
        maxTokens: 1,
        stopTokens: [],
        alternatives: 0,
      });
      for await (const _ of generation);
      await generation.outcome;
      const taken = held() - before;
      expect(taken).toBeLessThanOrEqual(plan.total + besides);
      expect(taken).toBeGreaterThanOrEqual(plan.weights + plan.kv);
    } finally {
      await engine.close();
    }
  });
});
