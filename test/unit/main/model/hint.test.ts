import { expect, test } from "vitest";
import { ourSampling } from "../../../../app/contract/session.ts";
import { readSamplingHints } from "../../../../main/model/hint.ts";

const read = (keys: Record<string, string | number | boolean>) =>
  readSamplingHints(Object.fromEntries(Object.entries(keys).map(([key, value]) => [`general.sampling.${key}`, value])));

test("a file without hints is sampled as llama.cpp does", () => {
  expect(read({})).toEqual({ defaults: ourSampling, hints: [] });
  expect(ourSampling).toMatchObject({ temperature: 0.8, topK: 40, topP: 0.95, minP: 0.05, penaltyLastN: 64 });
});

test("every hint is read, and floats of 32 bits as they were meant", () => {
  const { defaults, hints } = read({
    temp: Math.fround(0.6),
    top_k: 20,
    top_p: Math.fround(0.95),
    min_p: 0,
    xtc_probability: Math.fround(0.3),
    xtc_threshold: Math.fround(0.2),
    penalty_last_n: -1,
    penalty_repeat: Math.fround(1.1),
    sequence: "penalties;top-k;typ_p;temperature",
  });
  expect(defaults).toEqual({
    ...ourSampling,
    temperature: 0.6,
    topK: 20,
    topP: 0.95,
    minP: 0,
    xtcProbability: 0.3,
    xtcThreshold: 0.2,
    penaltyLastN: -1,
    repetitionPenalty: 1.1,
    order: ["penalties", "top_k", "typical_p", "temperature"],
  });
  expect(hints).toHaveLength(9);
});

test("a hint that cannot be meant leaves ours", () => {
  const { defaults, hints } = read({
    temp: -1,
    top_k: 1.5,
    top_p: 0,
    min_p: "0.1",
    penalty_repeat: Number.NaN,
    sequence: "top_k;mirostat",
  });
  expect({ defaults, hints }).toEqual({ defaults: ourSampling, hints: [] });
  expect(read({ sequence: "top_k;top_k" }).hints).toEqual([]);
  expect(read({ sequence: "[5]" }).hints).toEqual([]);
});

test("a top_k of -1 takes from all tokens, as one of 0", () => {
  for (const top_k of [-1, 0]) {
    expect(read({ top_k })).toEqual({ defaults: { ...ourSampling, topK: 0 }, hints: ["topK"] });
  }
});
