/** The starter model's tokenizer against the `tokenizers` package (see make_golden.py). */
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { createTokenizer } from "../../../app/token/tokenizer.ts";
import { readVocabulary } from "../../fixtures/gguf-vocabulary.ts";

const path =
  process.env.HALOGEN_TEST_MODEL ?? join(import.meta.dirname, "../../../.cache/model/SmolLM2-135M-Instruct.Q4_1.gguf");
const golden = JSON.parse(readFileSync(join(import.meta.dirname, "smollm2.json"), "utf8")) as {
  text: string;
  plain: number[];
  special: number[];
}[];

describe.skipIf(!existsSync(path))(
  `starter vocabulary (${existsSync(path) ? "present" : `skipped: no file ${path}`})`,
  () => {
    const tokenizer = existsSync(path) ? createTokenizer(readVocabulary(path).vocabulary) : null;

    it.each(["plain", "special"] as const)("gives the golden ids, special parsing: %s", (kind) => {
      for (const each of golden) {
        const ids = tokenizer?.encode([{ text: each.text, special: kind === "special" }]);
        expect(ids, JSON.stringify(each.text)).toEqual(each[kind]);
      }
    });

    it("gives every text back from its ids", () => {
      for (const each of golden) expect(tokenizer?.decode(each.plain)).toBe(each.text);
    });

    it("ends at its own end tokens", () => {
      expect(tokenizer?.tokenText(tokenizer.eos ?? -1)).toBe("<|im_end|>");
      expect([...(tokenizer?.endTokens ?? [])].map((id) => tokenizer?.tokenText(id))).toEqual(
        expect.arrayContaining(["<|im_end|>", "<|endoftext|>"]),
      );
    });
  },
);
