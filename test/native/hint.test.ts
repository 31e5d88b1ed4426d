/** Sampling hints from a file's bytes to the defaults of a model. */
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, expect, test } from "vitest";
import { noSampling, ourSampling } from "../../app/contract/session.ts";
import { createTokenizer } from "../../app/token/tokenizer.ts";
import { samplingOf } from "../../main/chat/sampling.ts";
import { readSamplingHints } from "../../main/model/hint.ts";
import { createNativeEngine } from "../../native/index.ts";
import { writeGguf } from "../fixtures/gguf-writer.ts";

const folder = mkdtempSync(join(tmpdir(), "halogen-hint-"));
const engine = createNativeEngine();
afterAll(async () => {
  await engine.close();
  rmSync(folder, { recursive: true });
});

test("a GGUF header's general.sampling keys become defaults", async () => {
  const path = join(folder, "hints.gguf");
  const header = writeGguf(
    {
      "general.architecture": ["string", "llama"],
      "general.sampling.temp": ["f32", 0.6],
      "general.sampling.top_k": ["u32", 20],
      "general.sampling.top_p": ["f32", 0.95],
      "general.sampling.penalty_repeat": ["f32", 1.05],
      "general.sampling.sequence": ["string", "top_k;top_p;temperature"],
    },
    [],
  );
  writeFileSync(path, header);
  const { metadata } = await engine.inspect(path);
  expect(readSamplingHints(metadata)).toEqual({
    defaults: {
      ...ourSampling,
      temperature: 0.6,
      topK: 20,
      topP: 0.95,
      repetitionPenalty: 1.05,
      order: ["top_k", "top_p", "temperature"],
    },
    hints: ["temperature", "topK", "topP", "repetitionPenalty", "order"],
  });
});

test("tokens that a file forbids are never chosen, beside the chat's own", async () => {
  const path = join(folder, "suppressed.gguf");
  const texts = ["a", "b", "c", "d"];
  writeFileSync(
    path,
    writeGguf(
      {
        "general.architecture": ["string", "llama"],
        "tokenizer.ggml.model": ["string", "llama"],
        "tokenizer.ggml.tokens": ["string[]", texts],
        "tokenizer.ggml.token_type": ["i32[]", [1, 1, 1, 1]],
        "tokenizer.ggml.scores": ["f32[]", [0, 0, 0, 0]],
        // One of them is past the end and names nothing.
        "tokenizer.ggml.suppress_tokens": ["i32[]", [2, 9, 3]],
      },
      [],
    ),
  );
  const vocabulary = await engine.vocabulary(path);
  expect([...(vocabulary.suppressed ?? [])]).toEqual([2, 3]);
  const tokenizer = createTokenizer(vocabulary);
  expect(samplingOf(noSampling, ourSampling, tokenizer).suppress).toEqual([2, 3]);
  expect(samplingOf({ ...noSampling, suppress: [0, 3] }, ourSampling, tokenizer).suppress).toEqual([2, 3, 0]);
});
