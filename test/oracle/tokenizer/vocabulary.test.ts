/**
 * The vocabularies in llama.cpp's source package (HALOGEN_LLAMA_CPP_PACKAGE names its folder) against the `tokenizers` package with the makers'
 * normalisers and pre-tokenizers (see make_vocabulary_golden.py): many scripts, composed and decomposed, emoji, code, long runs.
 */
import { createHash } from "node:crypto";
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { createTokenizer } from "../../../app/token/tokenizer.ts";
import { readVocabulary } from "../../fixtures/gguf-vocabulary.ts";

type Entry = { text: string } | { repeat: string; times: number };
const golden = JSON.parse(readFileSync(join(import.meta.dirname, "vocabulary.json"), "utf8")) as {
  texts: Entry[];
  vocabularies: Record<string, [number, string][]>;
};
const folder = join(process.env.HALOGEN_LLAMA_CPP_PACKAGE ?? "", "vendor/llama.cpp/models");
const present = (process.env.HALOGEN_LLAMA_CPP_PACKAGE ?? "") !== "" && existsSync(folder);

describe.skipIf(!present)(
  present ? "vocabularies" : "vocabularies (skipped: HALOGEN_LLAMA_CPP_PACKAGE names no unpacked package)",
  () => {
    it.each(Object.keys(golden.vocabularies))("%s", (name) => {
      const tokenizer = createTokenizer(readVocabulary(join(folder, `ggml-vocab-${name}.gguf`)).vocabulary);
      const wrong = golden.texts.flatMap((entry, index) => {
        const text = "text" in entry ? entry.text : entry.repeat.repeat(entry.times);
        const ids = tokenizer.encode([{ text, special: false }]);
        const digest = createHash("sha256").update(ids.join(",")).digest("hex").slice(0, 16);
        const [count, expected] = golden.vocabularies[name]?.[index] ?? [-1, ""];
        return digest === expected ? [] : [`${JSON.stringify(entry)}: ${ids.length} ids, expected ${count}`];
      });
      expect(wrong).toEqual([]);
    });

    it("Phi-3's prompt is llama.cpp's", () => {
      const tokenizer = createTokenizer(readVocabulary(join(folder, "ggml-vocab-phi-3.gguf")).vocabulary);
      const prompt = "<|user|>\nHello<|end|>\n<|assistant|>\n";
      expect(tokenizer.encode([{ text: prompt, special: true }])).toEqual([32010, 15043, 32007, 32001]);
    });

    it("Gemma 4's replies end where its makers' and llama.cpp's do, and not at a tag", () => {
      const tokenizer = createTokenizer(readVocabulary(join(folder, "ggml-vocab-gemma-4.gguf")).vocabulary);
      const ends = [...tokenizer.endTokens].map((id) => tokenizer.tokenText(id)).sort();
      expect(ends).toEqual(["<eos>", "<turn|>", "<|tool_response>"]);
    });
  },
);
