/** llama.cpp's own vectors, where an unpacked llama-cpp-python source package is at hand (HALOGEN_LLAMA_CPP_PACKAGE names its folder). */
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { createTokenizer } from "../../../app/token/tokenizer.ts";
import { readVocabulary } from "../../fixtures/gguf-vocabulary.ts";

const root = process.env.HALOGEN_LLAMA_CPP_PACKAGE ?? "";
const folder = join(root, "vendor/llama.cpp/models");
/** Kinds this version has no tokenizer for. */
const without = ["bert-bge"];
const names =
  root !== "" && existsSync(folder)
    ? readdirSync(folder)
        .map((file) => /^ggml-vocab-(.*)\.gguf\.inp$/.exec(file)?.[1] ?? "")
        .filter((name) => name !== "" && !without.includes(name))
    : [];

describe.skipIf(names.length === 0)(
  names.length > 0
    ? "llama.cpp vectors"
    : "llama.cpp vectors (skipped: HALOGEN_LLAMA_CPP_PACKAGE names no unpacked package)",
  () => {
    it("are there", () => expect(names.length).toBeGreaterThanOrEqual(14));

    it.each(names)("%s", (name) => {
      const path = join(folder, `ggml-vocab-${name}.gguf`);
      const tokenizer = createTokenizer(readVocabulary(path).vocabulary);
      const texts = readFileSync(`${path}.inp`, "utf8").split("\n__ggml_vocab_test__\n");
      const lines = readFileSync(`${path}.out`, "utf8").split("\n");
      texts.forEach((text, index) => {
        const ids = tokenizer.encode([{ text, special: false }]);
        expect(ids.join(" "), JSON.stringify(text)).toBe((lines[index] ?? "").trim());
        expect(tokenizer.decode(ids)).toBe(text);
      });
    });
  },
);
