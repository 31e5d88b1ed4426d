/**
 * Every type of keys and values against F32 on the starter model: KL and the likeliest token over a fixed text, within bounds of the type and within
 * what the settings show. The F32 run itself is held to llama.cpp and `transformers` by greedy.test.ts and architecture.test.ts.
 */
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { Engine } from "../../app/engine.ts";
import { kvQuality } from "../../app/kv-quality.ts";
import { createNativeEngine } from "../../native/index.ts";
import { comparedTypes, type KvDistance, measureKv, textTokens } from "../fixtures/kv-distance.ts";
import { starterModel } from "../fixtures/starter-model.ts";

/** Above these a type is broken, not coarse: each is a few times what was measured. */
const bounds = {
  f16: { meanKl: 2e-6, sameBest: 0.995 },
  bf16: { meanKl: 2e-4, sameBest: 0.985 },
  q8_0: { meanKl: 1e-3, sameBest: 0.98 },
} as const;

let engine: Engine;
let found: Record<(typeof comparedTypes)[number], KvDistance>;
let positions = 0;

beforeAll(async () => {
  engine = createNativeEngine();
  const tokens = await textTokens(engine, starterModel());
  positions = tokens.length;
  found = await measureKv(engine, starterModel(), tokens, 0);
  for (const type of comparedTypes) {
    const { share, meanKl, sameBest } = found[type];
    console.log(`${type}: ${share.toFixed(3)} of F16's memory, KL ${meanKl.toExponential(2)}, same ${sameBest}`);
  }
});

afterAll(() => engine.close());

describe.each(comparedTypes)("%s", (type) => {
  it("stays close to F32", () => {
    expect(found[type].meanKl).toBeGreaterThanOrEqual(-1e-7);
    expect(found[type].meanKl).toBeLessThan(bounds[type].meanKl);
    expect(found[type].sameBest).toBeGreaterThan(bounds[type].sameBest);
  });

  it("costs what the settings say", () => {
    const shown = kvQuality.types[type];
    expect(kvQuality.positions).toBe(positions);
    expect(shown.share).toBeCloseTo(found[type].share, 3);
    // Kernels of other instruction sets round elsewhere.
    expect(found[type].meanKl).toBeLessThan(2 * shown.meanKl + 1e-7);
    expect(shown.meanKl).toBeLessThan(2 * found[type].meanKl + 1e-7);
    expect(Math.abs(found[type].sameBest - shown.sameBest)).toBeLessThanOrEqual(3 / positions);
  });
});

it("the coarser types are coarser: F16 is nearest", () => {
  expect(found.f16.meanKl).toBeLessThan(found.bf16.meanKl);
  expect(found.f16.meanKl).toBeLessThan(found.q8_0.meanKl);
});
