/**
 * Whole files against llama.cpp on the same weights written out as F32 (make-real-golden.ts): distributions along one text, and greedy continuations. As
 * llama.cpp rounds activations to 8 bits, its own distance on the file itself is listed beside.
 */
import { createHash } from "node:crypto";
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { Engine, LoadedModel } from "../../app/engine.ts";
import { createNativeEngine } from "../../native/index.ts";
import { apart, readDistributions } from "../fixtures/distribution.ts";
import { gemmaPath, syntheticModel } from "../fixtures/real-model.ts";

interface Golden {
  model: { sha256: string };
  greedy: { name: string; prompt: number[]; ids: number[]; seconds: number[]; gaps: number[] }[];
  text: number[];
  from: number;
  peer: { flash: string; meanKl: number; sameBest: number }[];
}

const files = [
  { name: "gemma3", title: "Gemma 3 270M Q4_K_M", path: () => gemmaPath },
  { name: "mini", title: "a synthetic qwen35moe", path: () => syntheticModel("mini") },
];
/** Nats per token. The exact sums of both engines differ in their last bits only; a file's rounding is in both. */
const limits = { meanKl: 1e-3, mostKl: 1e-2, sameBest: 0.99 };
/** Two best tokens that lie this close may change places. */
const nearTie = 0.05;
const folder = join(import.meta.dirname, "../fixtures/real");

describe.each(files)("$title", ({ name, title, path }) => {
  const golden = JSON.parse(readFileSync(join(folder, `${name}.json`), "utf8")) as Golden;
  const there = existsSync(path());
  let engine: Engine;
  let model: LoadedModel;
  const lines: string[] = [];

  if (!there) {
    it.skip(`is not at ${path()}: set-up could not fetch it`, () => undefined);
    return;
  }

  beforeAll(async () => {
    engine = createNativeEngine();
    // So long that Gemma's layers with a window have pages of their own.
    model = await engine.load({ path: path(), backend: "cpu", contextLength: 4096, kvType: "f16", threads: 0 });
  });
  afterAll(async () => {
    console.log([title, ...lines].join("\n  "));
    await engine.close();
  });

  it("is the file that the golden was made of", () => {
    expect(createHash("sha256").update(readFileSync(path())).digest("hex")).toBe(golden.model.sha256);
  });

  it("has the exact distributions along a text", async () => {
    const exact = readDistributions(join(folder, `${name}.logits`));
    expect(exact.rows).toBe(golden.text.length - golden.from);
    const found = apart(exact, await engine.score(model.handle, Int32Array.from(golden.text), golden.from));
    const say = (who: string, { meanKl, sameBest }: { meanKl: number; sameBest: number }): string =>
      `${who}: mean KL ${meanKl.toExponential(1)}, likeliest token the same at ${(100 * sameBest).toFixed(0)} %`;
    lines.push(
      say("Halogen", found),
      ...golden.peer.map((one) => say(`llama.cpp on the file, flash attention ${one.flash}`, one)),
    );
    expect(found.meanKl).toBeLessThanOrEqual(limits.meanKl);
    expect(found.mostKl).toBeLessThanOrEqual(limits.mostKl);
    if (found.sameBest < limits.sameBest) expect(found.widestMiss).toBeLessThanOrEqual(nearTie);
    for (const one of golden.peer) expect(found.meanKl).toBeLessThan(one.meanKl);
  });

  it.each(golden.greedy)("continues as llama.cpp: $name", async ({ name: label, prompt, ids, gaps }) => {
    const generation = engine.generate({
      handle: model.handle,
      tokens: Int32Array.from(prompt),
      sampling: { temperature: 0, topK: 0, topP: 1, minP: 0, seed: 1 },
      maxTokens: ids.length,
      stopTokens: [],
      alternatives: 0,
    });
    const made: number[] = [];
    for await (const batch of generation) made.push(...batch.ids);
    await generation.outcome;
    expect(made).toHaveLength(ids.length);
    const step = made.findIndex((id, at) => id !== ids[at]);
    if (step < 0) {
      lines.push(`${label}: ${ids.length} of ${ids.length} tokens`);
      return;
    }
    const gap = gaps[step] ?? Number.POSITIVE_INFINITY;
    const line = `${label}: step ${step}: ${made[step]} instead of ${ids[step]}, llama.cpp's two best are ${gap} apart`;
    lines.push(line);
    expect(gap, line).toBeLessThanOrEqual(nearTie);
  });
});
