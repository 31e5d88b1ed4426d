/** llama.cpp's own vectors, where an unpacked llama-cpp-python source package is at hand (HALOGEN_LLAMA_CPP_PACKAGE names its folder). */
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { findPreTokenizer } from "../../../app/token/pre-tokenizer.ts";
import { createTokenizer } from "../../../app/token/tokenizer.ts";
import { readVocabulary } from "../../fixtures/gguf-vocabulary.ts";

const root = process.env.HALOGEN_LLAMA_CPP_PACKAGE ?? "";
const folder = join(root, "vendor/llama.cpp/models");
/** WordPiece drops what it does not know, so its ids do not give the text back. */
const lossy = ["bert-bge"];
const names =
  root !== "" && existsSync(folder)
    ? readdirSync(folder)
        .map((file) => /^ggml-vocab-(.*)\.gguf\.inp$/.exec(file)?.[1] ?? "")
        .filter((name) => name !== "")
    : [];

describe.skipIf(names.length === 0)(
  names.length > 0
    ? "llama.cpp vectors"
    : "llama.cpp vectors (skipped: HALOGEN_LLAMA_CPP_PACKAGE names no unpacked package)",
  () => {
    it("are there", () => expect(names.length).toBeGreaterThanOrEqual(15));

    it.each(names)("%s", (name) => {
      const path = join(folder, `ggml-vocab-${name}.gguf`);
      const { vocabulary } = readVocabulary(path);
      const tokenizer = createTokenizer(vocabulary);
      const composes = findPreTokenizer(vocabulary.pre)?.composes ?? false;
      const texts = readFileSync(`${path}.inp`, "utf8").split("\n__ggml_vocab_test__\n");
      const lines = readFileSync(`${path}.out`, "utf8").split("\n");
      texts.forEach((text, index) => {
        const ids = tokenizer.encode([{ text, special: false }]);
        const composed = composes ? text.normalize("NFC") : text;
        // llama.cpp leaves decomposed characters as they are; the makers' tokenizers, and ours, compose them first.
        const expected =
          composed === text
            ? (lines[index] ?? "").trim()
            : tokenizer.encode([{ text: composed, special: false }]).join(" ");
        expect(ids.join(" "), JSON.stringify(text)).toBe(expected);
        if (!lossy.includes(name)) expect(tokenizer.decode(ids)).toBe(composed);
      });
    });
  },
);
