import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { createTokenizer } from "../../../../app/token/tokenizer.ts";
import { firstPiece, pieceVocabulary } from "./vocabulary.ts";

const pieces: [string, number][] = [
  ["▁", -9],
  ["h", -9],
  ["e", -9],
  ["l", -9],
  ["o", -9],
  ["he", -3],
  ["ll", -2],
  ["llo", -4],
  ["hello", -5],
  ["▁hello", -1],
  ["el", -1.5],
];
const id = (text: string): number => firstPiece + pieces.findIndex(([piece]) => piece === text);
const plain = (text: string) => [{ text, special: false }];

describe("SentencePiece-style BPE", () => {
  const tokenizer = createTokenizer(pieceVocabulary(pieces));

  it("joins the pair whose product has the best score first", () => {
    // "el" (-1.5) comes before "ll" and "he", so "hello" can no longer be made.
    expect(tokenizer.encode(plain("hello"))).toEqual([id("▁"), id("h"), id("el"), id("l"), id("o")]);
    const without = createTokenizer(pieceVocabulary(pieces.filter(([piece]) => piece !== "el")));
    expect(without.encode(plain("hello"))).toEqual([firstPiece + 9]);
  });

  it("writes characters it does not have as bytes", () => {
    expect(tokenizer.encode(plain("é"))).toEqual([id("▁"), 3 + 0xc3, 3 + 0xa9]);
  });

  it("puts no space in front where the file says so", () => {
    const bare = createTokenizer(pieceVocabulary(pieces, { flags: { add_space_prefix: false } }));
    expect(bare.encode(plain("he"))).toEqual([id("he")]);
  });

  it("starts prompts with the beginning token unless the file says otherwise", () => {
    expect(tokenizer.encodePrompt(plain("he"))[0]).toBe(1);
    expect(
      createTokenizer(pieceVocabulary(pieces, { flags: { add_bos_token: false } })).encodePrompt(plain("he"))[0],
    ).toBe(id("▁"));
  });

  it("decodes what it encoded", () => {
    fc.assert(
      fc.property(fc.string({ unit: "binary" }), (text) => {
        // The mark itself cannot be told from a space.
        fc.pre(!text.includes("▁"));
        expect(tokenizer.decode(tokenizer.encode(plain(text)))).toBe(text);
      }),
    );
  });
});
