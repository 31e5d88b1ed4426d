import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { createTokenizer } from "../../../../app/token/tokenizer.ts";
import { packedStrings } from "../../../fixtures/gguf-vocabulary.ts";
import { firstPiece, pieceVocabulary } from "./vocabulary.ts";

const pieces = ["▁", "a", "b", "é", "ab", "▁ab", "▁▁", "\n", "\n\n", "\n\n\n"];
const id = (piece: string): number => firstPiece + pieces.indexOf(piece);
const vocabulary = pieceVocabulary(
  pieces.map((piece) => [piece, 0]),
  { model: "gemma4", merges: packedStrings(["a b", "▁ ab", "▁ ▁", "b é", "é b"]), flags: { add_bos_token: true } },
);
const tokenizer = createTokenizer(vocabulary);
const encode = (text: string): number[] => tokenizer.encode([{ text, special: false }]);

describe("BPE on characters", () => {
  it("marks spaces and merges by rank", () => {
    expect(encode("ab ab")).toEqual([id("ab"), id("▁ab")]);
    // Neighbouring spaces come after "▁ab" in rank.
    expect(encode("  ab")).toEqual([id("▁"), id("▁ab")]);
    expect(encode("   ")).toEqual([id("▁▁"), id("▁")]);
  });

  it("writes characters it does not have as bytes", () => {
    expect(encode("aßa")).toEqual([id("a"), 3 + 0xc3, 3 + 0x9f, id("a")]);
    expect(encode("👋")).toEqual([...Buffer.from("👋")].map((byte) => 3 + byte));
  });

  it("writes products of merges that are no tokens as bytes", () => {
    expect(encode("bé")).toEqual([3 + 0x62, 3 + 0xc3, 3 + 0xa9]);
  });

  it("takes runs of line breaks as they stand in the vocabulary", () => {
    expect(encode("a\n\n\nb\n")).toEqual([id("a"), id("\n\n\n"), id("b"), id("\n")]);
    expect(encode("\n\n\n\n")).toEqual([id("\n"), id("\n"), id("\n"), id("\n")]);
  });

  it("decodes what it encoded, in short lines and long ones", () => {
    fc.assert(
      fc.property(
        fc.oneof(
          fc.string({ unit: "binary" }),
          fc.string({ unit: fc.constantFrom("a", "b", "é", " ", "\n", "漢"), maxLength: 200 }),
        ),
        (text) => {
          fc.pre(!text.includes("▁"));
          expect(tokenizer.decode(encode(text))).toBe(text);
        },
      ),
    );
  });

  it("puts the beginning token in front of prompts", () => {
    expect(tokenizer.encodePrompt([{ text: "a", special: false }])).toEqual([1, id("a")]);
  });
});
