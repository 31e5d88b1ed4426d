/**
 * Every family in formats that files come in: the fastest kernels on the quantised file against the reference kernels on the values its blocks
 * stand for, written out as F32. That the latter is right is for architecture.test.ts; what a block stands for, for the kernel tests.
 */
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, describe, expect, it } from "vitest";
import { createNativeEngine } from "../../native/index.ts";
import { golden, goldenFamilies } from "../fixtures/architecture.ts";
import type { WrittenTensor } from "../fixtures/gguf-writer.ts";
import { quantisers } from "../fixtures/quantise.ts";

const formats = Object.keys(quantisers) as (keyof typeof quantisers)[];
/**
 * Nats: of four fifths of the tokens, and of all on average; and the share of tokens whose likeliest successor is the same. Rounded activations
 * may choose another expert where a router stands on a tie, which is one token and those that look back at it.
 */
const most = { usual: 5e-5, mean: 5e-3, same: 0.95 } as const;

const folder = mkdtempSync(join(tmpdir(), "halogen-quantised-"));
const found = new Map<string, string[]>();
afterAll(() => {
  rmSync(folder, { recursive: true, force: true });
  console.log(
    [
      `architecture: KL to the exact weights as ${formats.join(", ")}`,
      ...[...found].map(([family, each]) => `  ${family}: ${each.join(", ")}`),
    ].join("\n"),
  );
});

/** What quantisers leave alone in real files: vectors, routers, convolutions; and rows of no whole blocks. */
const stays = ({ name, ne }: WrittenTensor): boolean =>
  ne.length < 2 || (ne[0] ?? 0) % 32 !== 0 || /\.bias$|\.scale$|ffn_gate_inp|ssm_conv1d/.test(name);

async function scores(
  name: string,
  file: Buffer,
  tokens: Int32Array,
  cpuVariant: "" | "reference",
): Promise<Float32Array> {
  const path = join(folder, `${name}.gguf`);
  writeFileSync(path, file);
  const engine = createNativeEngine({ cpuVariant, threads: 2 });
  try {
    const options = { path, backend: "cpu", contextLength: 256, kvType: "f32", threads: 0 } as const;
    const { handle } = await engine.load(options);
    return await engine.score(handle, tokens, 0);
  } finally {
    await engine.close();
    rmSync(path);
  }
}

const best = (row: Float32Array): number => row.reduce((top, value, id) => (value > (row[top] ?? 0) ? id : top), 0);

describe.each(goldenFamilies)("%s", (family) => {
  it.each(formats)("%s", async (format) => {
    const { gguf, tokens, vocabulary } = golden(family);
    const quantise = (tensor: WrittenTensor) => {
      const { bytes } = tensor;
      return quantisers[format](new Float32Array(bytes.buffer, bytes.byteOffset, bytes.byteLength / 4));
    };
    let count = 0;
    const quantised = gguf((tensor) => {
      if (stays(tensor)) return tensor;
      count += 1;
      const { type, bytes } = quantise(tensor);
      return { ...tensor, type, bytes };
    });
    const written = gguf((tensor) =>
      stays(tensor) ? tensor : { ...tensor, bytes: new Uint8Array(quantise(tensor).values.buffer) },
    );
    expect(count).toBeGreaterThan(5);
    const exact = await scores(`${family}-exact`, written, tokens, "reference");
    const actual = await scores(`${family}-${format}`, quantised, tokens, "");
    const divergences: number[] = [];
    let same = 0;
    for (let at = 0; at < exact.length; at += vocabulary) {
      const [p, q] = [exact.subarray(at, at + vocabulary), actual.subarray(at, at + vocabulary)];
      divergences.push(p.reduce((sum, log, id) => sum + Math.exp(log) * (log - (q[id] ?? Number.NaN)), 0));
      same += best(p) === best(q) ? 1 / tokens.length : 0;
    }
    const mean = divergences.reduce((sum, each) => sum + each, 0) / tokens.length;
    const usual = divergences.toSorted((a, b) => a - b)[Math.floor(tokens.length * 0.8)];
    found.set(family, [...(found.get(family) ?? []), mean.toExponential(1)]);
    expect(usual).toBeLessThanOrEqual(most.usual);
    expect(mean).toBeLessThanOrEqual(most.mean);
    expect(same).toBeGreaterThanOrEqual(most.same);
  });
});
