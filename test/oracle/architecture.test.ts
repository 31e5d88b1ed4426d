/** Tiny random models of every family against the logits of `transformers` (see architecture/README.md). */
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, describe, expect, it } from "vitest";
import type { Engine, MemoryPlan } from "../../app/engine.ts";
import { createNativeEngine } from "../../native/index.ts";
import { type Golden, golden, goldenFamilies } from "../fixtures/architecture.ts";

const variants = ["reference", ""] as const;
/** Nats per token. Reference kernels round only the stored floats; the fast ones may sum in another order. */
const mostDivergence = 1e-5;
/** Of any one token, nats: a peaked distribution hides the rest from the divergence. */
const furthestLogProbability = 1e-3;

const folder = mkdtempSync(join(tmpdir(), "halogen-oracle-"));
/** In a context that is much longer than their window, layers that see no more have pages of their own. */
const slidingFamilies = ["gemma3", "gemma4-moe", "gemma4-per-layer", "gpt-oss"];
const longContext = 4096;
/** Of the slices: KL with each variant's kernels, and the furthest log probability of both. */
const figures = new Map<string, { divergences: string[]; furthest: number }>();
afterAll(() => {
  rmSync(folder, { recursive: true, force: true });
  const lines = [...figures].map(
    ([family, { divergences, furthest }]) =>
      `  ${family}: ${divergences.join(", ")}, furthest ${furthest.toExponential(1)}`,
  );
  console.log(["architecture: KL with the reference kernels, with the fastest", ...lines].join("\n"));
});

function model(family: string): string {
  const path = join(folder, `${family}.gguf`);
  writeFileSync(path, golden(family).gguf());
  return path;
}

function logSoftmax(row: Float32Array): Float64Array {
  const highest = row.reduce((a, b) => Math.max(a, b), Number.NEGATIVE_INFINITY);
  const sum = row.reduce((total, logit) => total + Math.exp(logit - highest), 0);
  return Float64Array.from(row, (logit) => logit - highest - Math.log(sum));
}

const best = (row: ArrayLike<number>): number => {
  let top = 0;
  for (let i = 1; i < row.length; i += 1) if ((row[i] ?? 0) > (row[top] ?? 0)) top = i;
  return top;
};

function expectAgreement(expected: Golden, scores: Float32Array, from: number) {
  const { tokens, vocabulary, logits } = expected;
  let divergence = 0;
  let agreed = 0;
  let furthest = 0;
  for (let t = from; t < tokens.length; t++) {
    const wanted = logSoftmax(logits.subarray(t * vocabulary, (t + 1) * vocabulary));
    const actual = scores.subarray((t - from) * vocabulary, (t - from + 1) * vocabulary);
    divergence += wanted.reduce((sum, log, i) => sum + Math.exp(log) * (log - (actual[i] ?? Number.NaN)), 0);
    agreed += best(wanted) === best(actual) ? 1 : 0;
    for (const [i, log] of wanted.entries()) {
      const off = Math.abs(log - (actual[i] ?? Number.NaN));
      if (!(off <= furthest)) furthest = off;
    }
  }
  divergence /= tokens.length - from;
  expect(divergence).toBeLessThan(mostDivergence);
  expect(furthest).toBeLessThan(furthestLogProbability);
  expect(agreed).toBe(tokens.length - from);
  return { divergence, furthest };
}

/** Scores made in one of three ways. A run that scores from `from` on reuses what the run before it left in the KV pages. */
async function scored(
  family: string,
  cpuVariant: (typeof variants)[number],
  how: (engine: Engine, handle: number, plan: MemoryPlan) => Promise<void>,
  contextLength = 256,
) {
  const engine = createNativeEngine({ cpuVariant, threads: 2 });
  try {
    const options = { path: model(family), backend: "cpu", contextLength, kvType: "f32", threads: 0 } as const;
    const { handle, plan } = await engine.load(options);
    const pools = new Map((await engine.memory()).map((pool) => [pool.name, pool]));
    // Every planned byte is there, and no other.
    expect([
      pools.get("weights")?.used,
      pools.get("kv")?.limit,
      pools.get("recurrent")?.limit,
      pools.get("checkpoints")?.limit,
      pools.get("scratch")?.used,
    ]).toEqual([plan.weights, plan.kv, plan.recurrent, plan.checkpoints, plan.scratch]);
    await how(engine, handle, plan);
  } finally {
    await engine.close();
  }
}

describe.each(variants)("kernels %j", (cpuVariant) => {
  it.each(goldenFamilies)("%s, one piece before the last token, then slices", async (family) => {
    const expected = golden(family);
    const last = expected.tokens.length - 1;
    await scored(family, cpuVariant, async (engine, handle) => {
      expectAgreement(expected, await engine.score(handle, expected.tokens, last), last);
      const scores = await engine.score(handle, expected.tokens, 0);
      expect(scores).toHaveLength(expected.tokens.length * expected.vocabulary);
      const { divergence, furthest } = expectAgreement(expected, scores, 0);
      const before = figures.get(family) ?? { divergences: [], furthest: 0 };
      figures.set(family, {
        divergences: [...before.divergences, divergence.toExponential(1)],
        furthest: Math.max(before.furthest, furthest),
      });
    });
  });

  it.each(slidingFamilies)("%s, layers with a window in pages of their own", async (family) => {
    const expected = golden(family);
    const half = Math.floor(expected.tokens.length / 2);
    await scored(
      family,
      cpuVariant,
      async (engine, handle, plan) => {
        expect(plan.checkpoints).toBeGreaterThan(0);
        // Others fill these pages first, so that the golden's come from among theirs.
        await engine.score(
          handle,
          Int32Array.from({ length: 2000 }, (_, i) => (i * 7) % expected.vocabulary),
          1999,
        );
        expectAgreement(expected, await engine.score(handle, expected.tokens, half), half);
        expectAgreement(expected, await engine.score(handle, expected.tokens, 0), 0);
      },
      longContext,
    );
  });

  it.each(goldenFamilies)("%s, token by token", async (family) => {
    const expected = golden(family);
    await scored(family, cpuVariant, async (engine, handle) => {
      const scores = new Float32Array(expected.tokens.length * expected.vocabulary);
      for (let t = 0; t < expected.tokens.length; t++) {
        scores.set(await engine.score(handle, expected.tokens.subarray(0, t + 1), t), t * expected.vocabulary);
      }
      expectAgreement(expected, scores, 0);
    });
  });
});
