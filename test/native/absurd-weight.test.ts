/**
 * Weights that are no numbers or infinite, in every format: loading, computing and choosing tokens end in time, with an error that says so or with tokens of the
 * vocabulary and numbers. Damaged downloads and broken conversions look like this.
 */
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, afterEach, beforeEach, describe, expect, it } from "vitest";
import type { Engine, Sampling } from "../../app/engine.ts";
import { HalogenError } from "../../app/error.ts";
import { createNativeEngine } from "../../native/index.ts";
import { readGgufLayout } from "../fixtures/gguf-layout.ts";
import { blockFormats, evenShape, quantisedLlama } from "../fixtures/quantised-model.ts";

const folder = mkdtempSync(join(tmpdir(), "halogen-absurd-"));
afterAll(() => rmSync(folder, { recursive: true, force: true }));
let engine: Engine;
beforeEach(() => {
  engine = createNativeEngine({ threads: 2 });
});
afterEach(() => engine.close());

const halves = { nan: 0x7e00, infinity: 0x7c00, "minus infinity": 0xfc00 } as const;
type Absurd = keyof typeof halves;

/** Where a block of the format keeps its scale, and the bits that make it absurd. */
function spoil(block: Buffer, format: string, absurd: Absurd): void {
  const bits = halves[absurd];
  const form = blockFormats[format];
  if (format === "F32")
    block.writeUInt32LE({ nan: 0x7fc00000, infinity: 0x7f800000, "minus infinity": 0xff800000 }[absurd]);
  else if (format === "BF16") block.writeUInt16LE({ nan: 0x7fc0, infinity: 0x7f80, "minus infinity": 0xff80 }[absurd]);
  else if (format === "MXFP4") block[0] = 0xff;
  else if (format === "NVFP4") block.fill(0x7f, 0, 4);
  else if (format === "IQ1_M") {
    for (let part = 0; part < 4; part += 1) {
      const place = 49 + 2 * part;
      block[place] = ((block[place] ?? 0) & 15) | (((bits >> (4 * part)) & 15) << 4);
    }
  } else block.writeUInt16LE(bits, form?.scale ?? 0);
}

/** `every`: all blocks of the tensor, else one in its middle. */
function spoiled(format: string, absurd: Absurd, tensor: string, every: boolean): string {
  const file = quantisedLlama(format, { ...evenShape, layers: 1 });
  const place = readGgufLayout(file).tensors.find(({ name }) => name === tensor);
  const { bytes: size, values } = blockFormats[format] ?? { bytes: 0, values: 1 };
  if (place === undefined) throw new Error(`no ${tensor}`);
  const blocks = place.shape.reduce((product, length) => product * length, 1) / values;
  for (let block = every ? 0 : blocks >> 1; block < (every ? blocks : (blocks >> 1) + 1); block += 1) {
    spoil(file.subarray(place.begin + block * size, place.begin + (block + 1) * size), format, absurd);
  }
  const path = join(folder, "model.gguf");
  writeFileSync(path, file);
  return path;
}

/** Its byte for "no number" is read as zero, as llama.cpp and gguf do. */
const withoutAbsurd = new Set(["NVFP4"]);

const ways: Partial<Sampling>[] = [{ temperature: 0 }, { temperature: 1, topK: 40, topP: 0.9, minP: 0.05 }];

/** Returns how it ended: in words of an error, or "numbers". */
async function use(path: string): Promise<string[]> {
  const ends: string[] = [];
  const tried = async (body: () => Promise<void>): Promise<void> => {
    try {
      await body();
      ends.push("numbers");
    } catch (error) {
      if (!(error instanceof HalogenError)) throw error;
      expect(error.message).not.toBe("");
      ends.push(error.code);
    }
  };
  await tried(async () => {
    const { handle } = await engine.load({ path, backend: "cpu", contextLength: 256, kvType: "f16", threads: 0 });
    const tokens = Int32Array.from([1, 5, 63, 0, 7]);
    for (const way of ways) {
      await tried(async () => {
        const sampling = { temperature: 0, topK: 0, topP: 1, minP: 0, seed: 1, ...way };
        const generation = engine.generate({ handle, tokens, sampling, maxTokens: 4, stopTokens: [], alternatives: 3 });
        for await (const batch of generation) {
          for (const id of batch.ids) expect(id >= 0 && id < evenShape.vocabulary).toBe(true);
          expect([...batch.logprobs].some(Number.isNaN)).toBe(false);
        }
        expect((await generation.outcome).cause).toBe("length");
      });
    }
    await tried(async () => {
      const scores = await engine.score(handle, tokens, 0);
      expect([...scores].some(Number.isNaN)).toBe(false);
    });
    await engine.unload(handle);
  });
  return ends;
}

describe.each(Object.keys(blockFormats))("%s", (format) => {
  it.each(Object.keys(halves) as Absurd[])("%s as a scale", async (absurd) => {
    for (const tensor of [
      "token_embd.weight",
      "blk.0.attn_q.weight",
      "blk.0.attn_v.weight",
      "blk.0.ffn_down.weight",
      "output.weight",
    ]) {
      for (const every of [false, true]) {
        const ends = await use(spoiled(format, absurd, tensor, every));
        // Greedy, sampled, scores, and the load around them.
        expect(ends, `${tensor} ${every}`).toHaveLength(4);
        expect(ends[3]).toBe("numbers");
        for (const end of ends) expect(["numbers", "model.not_finite"]).toContain(end);
        if (every && !withoutAbsurd.has(format))
          expect(ends.slice(0, 3), `${tensor}`).toEqual(Array(3).fill("model.not_finite"));
      }
    }
  });
});
