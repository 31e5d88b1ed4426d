/** A tiny llama of random blocks of one format against llama.cpp on the same weights written out as F32 (make-format-golden.ts). */
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { Engine } from "../../app/engine.ts";
import { evenShape, quantisedLlama } from "../fixtures/quantised-model.ts";

const name = join(import.meta.dirname, "../fixtures/format-logits");
const golden = JSON.parse(readFileSync(`${name}.json`, "utf8")) as { formats: string[]; tokens: number[] };
const raw = readFileSync(`${name}.bin`);
const width = evenShape.vocabulary;
const size = golden.tokens.length * width;
if (raw.length !== 4 * size * golden.formats.length) throw new Error(`${name}.bin does not fit ${name}.json`);

export const goldenFormats: readonly string[] = golden.formats;

export interface Figures {
  /** Mean KL divergence from the exact distributions, in nats a token; a negative one is rounding. */
  kl: number;
  /** Tokens with the same likeliest next one, of `tokens`. */
  same: number;
  tokens: number;
}

const best = (row: Float32Array): number => row.reduce((top, value, id) => (value > (row[top] ?? 0) ? id : top), 0);

/** `folder`: for the file. A score that is no number makes the divergence none. */
export async function measureFormat(engine: Engine, format: string, folder: string): Promise<Figures> {
  const at = 4 * size * golden.formats.indexOf(format);
  const exact = new Float32Array(raw.buffer.slice(raw.byteOffset + at, raw.byteOffset + at + 4 * size));
  const path = join(folder, `${format}.gguf`);
  writeFileSync(path, quantisedLlama(format));
  const { handle } = await engine.load({ path, backend: "cpu", contextLength: 256, kvType: "f32", threads: 0 });
  const actual = await engine.score(handle, Int32Array.from(golden.tokens), 0);
  await engine.unload(handle);
  if (actual.length !== exact.length) throw new Error(`${actual.length} scores instead of ${exact.length}`);
  const found = { kl: 0, same: 0, tokens: golden.tokens.length };
  for (let row = 0; row < exact.length; row += width) {
    const [p, q] = [exact.subarray(row, row + width), actual.subarray(row, row + width)];
    found.kl += p.reduce((sum, log, id) => sum + Math.exp(log) * (log - (q[id] ?? Number.NaN)), 0) / found.tokens;
    found.same += best(p) === best(q) ? 1 : 0;
  }
  return found;
}
