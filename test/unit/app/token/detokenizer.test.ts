import { describe, expect, it } from "vitest";
import { createTokenizer } from "../../../../app/token/tokenizer.ts";
import { byteVocabulary, firstPiece, pieceVocabulary } from "./vocabulary.ts";

describe("a stream of byte-level tokens", () => {
  const tokenizer = createTokenizer(byteVocabulary());

  it("shows a character once its last byte is there", () => {
    const stream = tokenizer.detokenizer();
    const family = [...Buffer.from("👩‍👩‍👧", "utf8")];
    let text = "";
    for (const byte of family) {
      text += stream.push(byte);
      expect(text).not.toContain("\uFFFD");
    }
    expect(text + stream.flush()).toBe("👩‍👩‍👧");
  });

  it("marks invalid bytes and goes on (a reply that ends inside a character too)", () => {
    const stream = tokenizer.detokenizer();
    const shown = [0xff, 0xc0, 0x80, 0x6f, 0x6b, 0xf0, 0x9f].map((byte) => stream.push(byte)).join("");
    expect(shown).toBe("\uFFFD\uFFFD\uFFFDok");
    expect(stream.flush()).toBe("\uFFFD");
  });

  it("prints no control token, unless it is asked for", () => {
    expect(tokenizer.decode([0x61, 258, 0x62])).toBe("ab");
    expect(tokenizer.decode([0x61, 258, 0x62], new Set([258]))).toBe("a<|im_end|>b");
  });

  it("prints user-defined tokens", () => {
    expect(tokenizer.decode([259, 0x61, 260])).toBe("<think>a</think>");
  });

  it("does not stumble over an id that the vocabulary does not have", () => {
    expect(tokenizer.decode([0x61, 999_999, -1, 0x62])).toBe("ab");
  });
});

describe("a stream of SentencePiece tokens", () => {
  const tokenizer = createTokenizer(
    pieceVocabulary([
      ["▁hello", -1],
      ["▁", -2],
      ["x", -3],
    ]),
  );

  it("turns the space mark into a space and drops the first one", () => {
    expect(tokenizer.decode([firstPiece, firstPiece, firstPiece + 2])).toBe("hello hellox");
  });

  it("keeps the first space where text stands before it", () => {
    const stream = tokenizer.detokenizer(new Set(), true);
    expect(stream.push(firstPiece) + stream.push(firstPiece)).toBe(" hello hello");
  });

  it("joins byte tokens to characters", () => {
    const bytes = [...Buffer.from("é", "utf8")].map((byte) => 3 + byte);
    expect(tokenizer.decode([firstPiece + 2, ...bytes])).toBe("xé");
  });
});
