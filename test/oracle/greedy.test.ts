/**
 * The engine's greedy tokens on the quantised starter against llama.cpp's on the same weights written out as F32 (make-greedy-golden.mjs): what the file
 * means, computed exactly. A first difference is allowed only where llama.cpp's two best logits lie close together. What llama.cpp itself does on the
 * quantised file, where it rounds activations to 8 bits, is listed beside.
 */
import { readFileSync } from "node:fs";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { Engine, LoadedModel } from "../../app/engine.ts";
import { createNativeEngine } from "../../native/index.ts";
import { starterModel } from "../fixtures/starter-model.ts";

interface Row {
  name: string;
  prompt: number[];
  ids: number[];
  seconds: number[];
  /** Per step, how far the second best log probability lies behind the best. */
  gaps: number[];
  /** Per variant, the step at which llama.cpp leaves the path on the quantised file; -1 = never. */
  leaves: number[];
}

interface Variant {
  name: string;
  /** Share of steps with the same best token, along the path. */
  sameBest: number;
  /** Mean over the steps of the difference in the lead of the best token over the second, in nats. */
  meanDifference: number;
}

const nearTie = 0.05;
/** Of all steps along the path: how many best tokens must be the same. */
const leastSame = 0.99;

const golden = JSON.parse(readFileSync(new URL("../fixtures/greedy-smollm2.json", import.meta.url), "utf8")) as {
  steps: number;
  variants: Variant[];
  rows: Row[];
};

let engine: Engine;
let model: LoadedModel;
const differences: string[] = [];

beforeAll(async () => {
  engine = createNativeEngine();
  model = await engine.load({ path: starterModel(), backend: "cpu", contextLength: 1024, kvType: "f16", threads: 0 });
});

afterAll(async () => {
  const others = golden.variants.map(({ name }, at) => {
    const wide = golden.rows.filter(({ leaves, gaps }) => (gaps[leaves[at] ?? -1] ?? 0) > nearTie).length;
    return `${name} leaves it on ${golden.rows.filter(({ leaves }) => leaves[at] !== -1).length}, ${wide} of them where it is no near tie`;
  });
  console.log(
    `${golden.rows.length} prompts x ${golden.steps} greedy tokens: on ${differences.length} the engine leaves the exact path`,
    ...[...differences, ...others].map((line) => `\n  ${line}`),
  );
  await engine.close();
});

async function follow(prompt: number[], steps: number): Promise<number[]> {
  const generation = engine.generate({
    handle: model.handle,
    tokens: Int32Array.from(prompt),
    sampling: { temperature: 0, topK: 0, topP: 1, minP: 0, seed: 1 },
    maxTokens: steps,
    stopTokens: [],
    alternatives: 0,
  });
  const ids: number[] = [];
  for await (const batch of generation) ids.push(...batch.ids);
  await generation.outcome;
  return ids;
}

describe("greedy tokens", () => {
  it("are compared on twenty prompts of 64 tokens", () => {
    expect(golden.rows).toHaveLength(20);
    for (const row of golden.rows) expect(row.ids).toHaveLength(64);
  });

  it.each(golden.rows)("$name", async (row) => {
    const ids = await follow(row.prompt, golden.steps);
    expect(ids).toHaveLength(golden.steps);
    const step = ids.findIndex((id, at) => id !== row.ids[at]);
    if (step < 0) return;
    const gap = row.gaps[step] ?? Number.POSITIVE_INFINITY;
    const line = `${row.name}: step ${step}: ${ids[step]} instead of ${row.ids[step]}, llama.cpp's two best are ${gap} apart`;
    differences.push(line);
    expect(gap, line).toBeLessThanOrEqual(nearTie);
  });

  it("stay with the exact ones along their path, and closer than llama.cpp on the quantised file", async () => {
    let same = 0;
    let difference = 0;
    for (const row of golden.rows) {
      const tokens = Int32Array.from([...row.prompt, ...row.ids]);
      const scores = await engine.score(model.handle, tokens, row.prompt.length - 1);
      const width = scores.length / (row.ids.length + 1);
      expect(Number.isInteger(width)).toBe(true);
      row.ids.forEach((id, step) => {
        const line = scores.subarray(step * width, (step + 1) * width);
        const best = line.reduce((found, value, at) => (value > (line[found] ?? 0) ? at : found), 0);
        if (best === id) same += 1;
        const lead = (line[id] ?? 0) - (line[row.seconds[step] ?? 0] ?? 0);
        difference += Math.abs(lead - (row.gaps[step] ?? 0));
      });
    }
    const all = golden.rows.length * golden.steps;
    const found = { sameBest: same / all, meanDifference: difference / all };
    console.log(
      [{ name: "Halogen", ...found }, ...golden.variants]
        .map(
          (one) =>
            `${one.name}: best token the same at ${(100 * one.sameBest).toFixed(2)} %, lead differs by ${one.meanDifference.toFixed(4)}`,
        )
        .join("\n"),
    );
    expect(found.sameBest).toBeGreaterThanOrEqual(leastSame);
    expect(found.meanDifference).toBeLessThan(Math.min(...golden.variants.map((one) => one.meanDifference)));
  });
});
