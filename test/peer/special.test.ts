/**
 * Texts full of control tokens beside llama.cpp, live, for each of its vocabularies (HALOGEN_LLAMA_CPP_PACKAGE names the folder of its source
 * package): what follows a control token, and what is stripped around it, differs from family to family.
 */
import { existsSync, readdirSync } from "node:fs";
import { join } from "node:path";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { createTokenizer } from "../../app/token/tokenizer.ts";
import { readVocabulary } from "../fixtures/gguf-vocabulary.ts";
import { openPeer } from "./llama.ts";

const folder = join(process.env.HALOGEN_LLAMA_CPP_PACKAGE ?? "", "vendor/llama.cpp/models");
const present = (process.env.HALOGEN_LLAMA_CPP_PACKAGE ?? "") !== "" && existsSync(folder);
/** Those of models that chat; encoders of text have other rules at the borders. */
const names = present
  ? readdirSync(folder)
      .map((file) => /^ggml-vocab-(.*)\.gguf$/.exec(file)?.[1] ?? "")
      .filter((name) => name !== "" && !/bert|nomic|aquila|baichuan|gpt-neox/.test(name))
  : [];
const words = ["hello", "\n", " ", "  ", "\n\n", "world", "don't", "1234", "\t", "é", "漢字", "🙂", " the", "..."];

describe.skipIf(!present)(
  present ? "control tokens" : "control tokens (skipped: HALOGEN_LLAMA_CPP_PACKAGE names no unpacked package)",
  () => {
    it.each(names)("%s", async (name) => {
      const path = join(folder, `ggml-vocab-${name}.gguf`);
      const tokenizer = createTokenizer(readVocabulary(path).vocabulary);
      const special = tokenizer.special.tokens.map(({ text }) => text).filter((text) => text.length > 1);
      const parts =
        special.length > 0
          ? fc.oneof(fc.constantFrom(...words), fc.constantFrom(...special))
          : fc.constantFrom(...words);
      const peer = await openPeer(path, { vocabOnly: true });
      try {
        let tokens = 0;
        fc.assert(
          fc.property(fc.array(parts, { minLength: 1, maxLength: 8 }), (each) => {
            const text = each.join("");
            const expected = [...peer.model.tokenize(text, true)].map(Number);
            expect(tokenizer.encode([{ text, special: true }]), JSON.stringify(text)).toEqual(expected);
            tokens += expected.length;
          }),
          { numRuns: 150 },
        );
        expect(tokens).toBeGreaterThan(150);
      } finally {
        await peer.close();
      }
    });
  },
);
