/** Tiny random models of every family against the logits of `transformers` (see architecture/README.md). What the engine lacks is refused by name. */
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, describe, expect, it } from "vitest";
import { createNativeEngine } from "../../native/index.ts";
import { golden, goldenFamilies } from "../fixtures/architecture.ts";

/** Families computed today. A family that appears here must agree; one that does not must be refused as not known yet. */
const computed = ["llama", "llama3-rope", "qwen2", "qwen3", "smollm3"];
const variants = ["reference", ""] as const;
/** Nats per token. Reference kernels round only the stored floats; the fast ones may sum in another order. */
const mostDivergence = 1e-5;

const folder = mkdtempSync(join(tmpdir(), "halogen-oracle-"));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

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

describe.each(variants)("kernels %j", (cpuVariant) => {
  it.each(computed)("%s", async (family) => {
    const { tokens, vocabulary, logits } = golden(family);
    const engine = createNativeEngine({ cpuVariant, threads: 2 });
    try {
      const options = { path: model(family), backend: "cpu", contextLength: 256, kvType: "f32", threads: 0 } as const;
      const loaded = await engine.load(options);
      const scores = await engine.score(loaded.handle, tokens, 0);
      expect(scores).toHaveLength(tokens.length * vocabulary);
      let divergence = 0;
      let agreed = 0;
      for (let t = 0; t < tokens.length; t++) {
        const expected = logSoftmax(logits.subarray(t * vocabulary, (t + 1) * vocabulary));
        const actual = scores.subarray(t * vocabulary, (t + 1) * vocabulary);
        divergence += expected.reduce((sum, log, i) => sum + Math.exp(log) * (log - (actual[i] ?? Number.NaN)), 0);
        agreed += best(expected) === best(actual) ? 1 : 0;
      }
      expect(divergence / tokens.length).toBeLessThan(mostDivergence);
      expect(agreed).toBe(tokens.length);
    } finally {
      await engine.close();
    }
  });
});

describe("families not computed yet", () => {
  it.each(goldenFamilies.filter((family) => !computed.includes(family)))(
    "%s is refused as not known, not as damaged",
    async (family) => {
      const engine = createNativeEngine({ threads: 1 });
      try {
        const inspection = await engine.inspect(model(family));
        expect(inspection.supported).toBe(false);
        expect(inspection.problem).toContain("This file is fine; Halogen does not know");
      } finally {
        await engine.close();
      }
    },
  );
});
