import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { readTokenBytes } from "../../../../app/token/token-bytes.ts";
import { createTokenizer } from "../../../../app/token/tokenizer.ts";
import { createWordCutter } from "../../../../app/token/word-cutter.ts";
import { firstPiece, pieceVocabulary } from "./vocabulary.ts";

function cut(pieces: string[], text: string): string[] {
  const tokens = readTokenBytes(pieceVocabulary(pieces.map((piece) => [piece, 0])), false);
  const words: string[] = [];
  createWordCutter(tokens, (id) => id >= firstPiece)(text, 0, text.length, (start, end) =>
    words.push(text.slice(start, end)),
  );
  return words;
}

describe("the word cutter", () => {
  it("cuts before a mark that follows something else", () => {
    expect(cut(["▁a", "▁▁"], "▁▁one▁two▁▁▁three▁")).toEqual(["▁▁one", "▁two", "▁▁▁three", "▁"]);
    expect(cut([], "")).toEqual([]);
  });

  it("does not where a token lies across", () => {
    expect(cut([">▁</"], "<a>▁</a>▁<b>")).toEqual(["<a>▁</a>", "▁<b>"]);
    expect(cut(["x▁y▁z"], "x▁y▁z▁x▁y")).toEqual(["x▁y▁z", "▁x", "▁y"]);
  });

  it("cuts nothing when too many do", () => {
    const many = Array.from({ length: 65 }, (_, i) => `${String.fromCharCode(0x61 + (i % 26))}${i}▁`);
    expect(cut(many, "one▁two")).toEqual(["one▁two"]);
  });

  it("changes no token, whatever lies across", () => {
    const parts = ["a", "b", "▁", "▁a", "ab", "b▁", "a▁b", "▁▁", "▁a▁", "b▁a"];
    const text = fc.string({ unit: fc.constantFrom("a", "b", " "), maxLength: 30 });
    fc.assert(
      fc.property(fc.shuffledSubarray(parts), text, (chosen, whole) => {
        const scored = chosen.map((piece, rank) => [piece, -rank] as [string, number]);
        // Tokens that nothing in the text can make, so many that nothing is cut.
        const blockers = Array.from({ length: 65 }, (_, i) => [`q${i}▁`, -100] as [string, number]);
        const flags = { add_space_prefix: false };
        const cutting = createTokenizer(pieceVocabulary(scored, { flags }));
        const uncut = createTokenizer(pieceVocabulary([...scored, ...blockers], { flags }));
        const span = [{ text: whole, special: false }];
        expect(cutting.encode(span)).toEqual(uncut.encode(span));
      }),
      { numRuns: 1500 },
    );
  });
});
