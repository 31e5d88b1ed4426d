import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { findPreTokenizer, preTokenizerNames, splitPieces } from "../../../../app/token/pre-tokenizer.ts";
import { textShapes } from "../../../fixtures/text-shape.ts";

function cut(name: string, text: string): string[] {
  const pieces: string[] = [];
  splitPieces(text, findPreTokenizer(name)?.expressions ?? [], (part, start, end) =>
    pieces.push(part.slice(start, end)),
  );
  return pieces;
}

describe.each(preTokenizerNames.map((name) => [name]))("pre-tokenizer %s", (name) => {
  it("loses and adds nothing", () => {
    fc.assert(
      fc.property(
        fc.oneof(fc.string({ unit: "binary" }), fc.string({ unit: fc.constantFrom(..."aZ 9\n\r\t.'ßé中한👋") })),
        (text) => {
          const pieces = cut(name, text);
          expect(pieces.join("")).toBe(text);
          expect(pieces).not.toContain("");
        },
      ),
      { numRuns: 60 },
    );
  });
});

describe("white space", () => {
  it("is that of Unicode: U+0085 is, U+FEFF is not", () => {
    expect(cut("qwen2", "a\u0085\u0085b")).toEqual(["a", "\u0085", "\u0085b"]);
    expect(cut("gpt-2", "a\uFEFF\uFEFF b")).toEqual(["a", "\uFEFF\uFEFF", " b"]);
  });

  it("gives its last character to the word behind it", () => {
    expect(cut("llama-bpe", "a   b")).toEqual(["a", "  ", " b"]);
    expect(cut("llama-bpe", "a   ")).toEqual(["a", "   "]);
  });
});

describe("digits", () => {
  it("are single, in threes, or in a run, by family", () => {
    expect(cut("smollm", "x12345")).toEqual(["x", "1", "2", "3", "4", "5"]);
    expect(cut("qwen2", "x12345")).toEqual(["x", "1", "2", "3", "4", "5"]);
    expect(cut("llama-bpe", "x12345")).toEqual(["x", "123", "45"]);
    expect(cut("gpt-2", "x12345")).toEqual(["x", "12345"]);
  });
});

describe("combining marks", () => {
  it("join letters in qwen35 and not in qwen2", () => {
    expect(cut("qwen35", "e\u0301a")).toEqual(["e\u0301a"]);
    expect(cut("qwen2", "e\u0301a")).toEqual(["e", "\u0301a"]);
  });
});

it("a name it does not know is no pre-tokenizer", () => {
  expect(findPreTokenizer("martian")).toBeUndefined();
  expect(findPreTokenizer("__proto__")).toBeUndefined();
});

describe("texts made to hurt", () => {
  // One name for each set of expressions; a search that takes the square of a run's length would not come back.
  const distinct = new Map(
    preTokenizerNames.map((name) => [
      findPreTokenizer(name)
        ?.expressions.map(({ global }) => global.source)
        .join("\n"),
      name,
    ]),
  );

  it.each([...distinct.values()])("%s cuts them without loss, in time", (name) => {
    const expressions = findPreTokenizer(name)?.expressions ?? [];
    for (const [shape, make] of Object.entries(textShapes)) {
      const whole = make(shape.includes("space") ? 300_000 : 20_000);
      let at = 0;
      let joined = "";
      splitPieces(whole, expressions, (part, start, end) => {
        joined += part.slice(start, end);
        at++;
      });
      expect(joined === whole, `${shape}: ${at} pieces`).toBe(true);
    }
  });
});
