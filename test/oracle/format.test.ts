/**
 * Every weight format in a whole model: the engine on the quantised file against llama.cpp on the same weights written out as F32
 * (make-format-golden.ts). The model's blocks are random bits, harsher than anything a quantiser writes.
 */
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, describe, expect, it } from "vitest";
import type { Engine } from "../../app/engine.ts";
import { createNativeEngine } from "../../native/index.ts";
import { blockFormats, evenShape, quantisedLlama } from "../fixtures/quantised-model.ts";

/** Nats per token and share of tokens. Rounded activations may cost this much; the reference kernels round nothing but floats. */
const limits = { "": { kl: 1e-3, same: 0.95 }, reference: { kl: 1e-6, same: 1 } } as const;

const name = join(import.meta.dirname, "../fixtures/format-logits");
const golden = JSON.parse(readFileSync(`${name}.json`, "utf8")) as { formats: string[]; tokens: number[] };
const raw = readFileSync(`${name}.bin`);
const all = new Float32Array(raw.buffer.slice(raw.byteOffset, raw.byteOffset + raw.byteLength));
const width = evenShape.vocabulary;
const rowsOf = (format: string): Float32Array => {
  const size = golden.tokens.length * width;
  return all.subarray(golden.formats.indexOf(format) * size, (golden.formats.indexOf(format) + 1) * size);
};

const folder = mkdtempSync(join(tmpdir(), "halogen-format-"));
const found = new Map<string, string[]>();
afterAll(() => {
  rmSync(folder, { recursive: true, force: true });
  console.log(
    [
      "format: KL to the exact weights, fastest kernels and reference",
      ...[...found].map(([format, each]) => `  ${format}: ${each.join(", ")}`),
    ].join("\n"),
  );
});

async function scores(engine: Engine, format: string): Promise<Float32Array> {
  const path = join(folder, `${format}.gguf`);
  writeFileSync(path, quantisedLlama(format));
  const options = { path, backend: "cpu", contextLength: 256, kvType: "f32", threads: 0 } as const;
  const { handle } = await engine.load(options);
  const rows = await engine.score(handle, Int32Array.from(golden.tokens), 0);
  await engine.unload(handle);
  return rows;
}

const best = (row: Float32Array): number => row.reduce((top, value, id) => (value > (row[top] ?? 0) ? id : top), 0);

it("covers every format that the engine computes", async () => {
  const engine = createNativeEngine({ threads: 1 });
  const { formats } = await engine.info();
  await engine.close();
  expect([...formats].sort()).toEqual(Object.keys(blockFormats).sort());
  expect(golden.formats).toEqual(Object.keys(blockFormats));
  expect(all.length).toBe(golden.formats.length * golden.tokens.length * width);
});

describe.each(["", "reference"] as const)("kernels %j", (cpuVariant) => {
  it.each(Object.keys(blockFormats))("%s", async (format) => {
    const engine = createNativeEngine({ cpuVariant, threads: 2 });
    try {
      const [truth, actual] = [rowsOf(format), await scores(engine, format)];
      expect(actual).toHaveLength(truth.length);
      let kl = 0;
      let same = 0;
      for (let at = 0; at < truth.length; at += width) {
        const [p, q] = [truth.subarray(at, at + width), actual.subarray(at, at + width)];
        kl += p.reduce((sum, log, id) => sum + Math.exp(log) * (log - (q[id] ?? Number.NaN)), 0);
        same += best(p) === best(q) ? 1 : 0;
      }
      const tokens = golden.tokens.length;
      found.set(format, [...(found.get(format) ?? []), `${(kl / tokens).toExponential(1)} (${same} of ${tokens})`]);
      expect(kl / tokens).toBeLessThanOrEqual(limits[cpuVariant].kl);
      expect(same / tokens).toBeGreaterThanOrEqual(limits[cpuVariant].same);
    } finally {
      await engine.close();
    }
  });
});
