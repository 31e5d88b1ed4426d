import { describe, expect, it } from "vitest";
import { createTokenizer } from "../../../../app/token/tokenizer.ts";
import { packedStrings } from "../../../fixtures/gguf-vocabulary.ts";
import { byteVocabulary, pieceVocabulary } from "./vocabulary.ts";

const imStart = 257;
const imEnd = 258;
const think = 259;

/** The test vocabulary with more special tokens: text and type. */
function withSpecial(...more: [string, number][]) {
  const base = byteVocabulary();
  const made = createTokenizer(base);
  const texts = Array.from({ length: base.types.length }, (_, id) => made.tokenText(id));
  return {
    first: texts.length,
    tokenizer: createTokenizer({
      ...base,
      tokens: packedStrings([...texts, ...more.map(([text]) => text)]),
      types: Int32Array.from([...base.types, ...more.map(([, type]) => type)]),
    }),
  };
}

describe("control tokens", () => {
  const tokenizer = createTokenizer(byteVocabulary());
  const bytes = (text: string): number[] => [...Buffer.from(text, "utf8")];

  it("count in what the template wrote", () => {
    expect(tokenizer.encode([{ text: "<|im_start|>a<|im_end|>", special: true }])).toEqual([imStart, 0x61, imEnd]);
  });

  it("are plain text in what people wrote", () => {
    expect(tokenizer.encode([{ text: "<|im_start|>a", special: false }])).toEqual(bytes("<|im_start|>a"));
  });

  it("cannot be made at the border between the two", () => {
    for (let cut = 1; cut < "<|im_end|>".length; cut++) {
      const head = "<|im_end|>".slice(0, cut);
      const tail = "<|im_end|>".slice(cut);
      const expected = bytes("<|im_end|>");
      expect(
        tokenizer.encode([
          { text: head, special: true },
          { text: tail, special: false },
        ]),
      ).toEqual(expected);
      expect(
        tokenizer.encode([
          { text: head, special: false },
          { text: tail, special: true },
        ]),
      ).toEqual(expected);
      expect(
        tokenizer.encode([
          { text: head, special: false },
          { text: tail, special: false },
        ]),
      ).toEqual(expected);
      expect(
        tokenizer.encode([
          { text: head, special: true },
          { text: tail, special: true },
        ]),
      ).toEqual([imEnd]);
    }
  });

  it("are found right before and after ordinary text", () => {
    expect(
      tokenizer.encode([
        { text: "<|im_start|>", special: true },
        { text: "<|im_end|>", special: false },
        { text: "<|im_end|>", special: true },
      ]),
    ).toEqual([imStart, ...bytes("<|im_end|>"), imEnd]);
  });
});

describe("user-defined tokens", () => {
  it("always split", () => {
    const tokenizer = createTokenizer(byteVocabulary());
    expect(tokenizer.encode([{ text: "a<think>b", special: false }])).toEqual([0x61, think, 0x62]);
  });

  it("do not, where they are turn markup that a file declares so", () => {
    const { tokenizer, first } = withSpecial(["<｜User｜>", 4]);
    expect(tokenizer.encode([{ text: "<｜User｜>", special: true }])).toEqual([first]);
    expect(tokenizer.encode([{ text: "<｜User｜>", special: false }])).toEqual([...Buffer.from("<｜User｜>", "utf8")]);
  });
});

describe("markup of Gemma 4 that a file declares as user-defined", () => {
  const marks = [
    "<|channel>",
    "<channel|>",
    "<|tool_call>",
    "<tool_call|>",
    "<|tool_response>",
    "<|turn>",
    "<turn|>",
    '<|"|>',
  ];
  const { tokenizer, first } = withSpecial(...marks.map((text): [string, number] => [text, 4]), ["<|>", 4]);

  it.each(marks)("%s counts only in what the template wrote", (text) => {
    expect(tokenizer.encode([{ text, special: true }])).toEqual([first + marks.indexOf(text)]);
    expect(tokenizer.encode([{ text, special: false }])).toEqual([...Buffer.from(text, "utf8")]);
    expect(tokenizer.special.find(`a${text}b`)).toEqual([[1, 1 + text.length]]);
  });

  it("is not every token of such characters", () => {
    expect(tokenizer.encode([{ text: "a <|> b", special: false }])).toContain(first + marks.length);
  });
});

describe("Phi-3's control tokens", () => {
  const texts = ["<|user|>", "<|end|>", "<|assistant|>", "<|placeholder1|>", "<|endoftext|>"];
  const vocabulary = (more: readonly string[]) => {
    const base = pieceVocabulary([...more.map((text): [string, number] => [text, 0]), ["\u2581a", 0]]);
    const types = base.types.slice();
    for (let i = 0; i < more.length; i++) types[259 + i] = 3;
    return createTokenizer({ ...base, types });
  };
  const [user, end, assistant, , endOfText, a] = [259, 260, 261, 262, 263, 264];

  it("swallow the white space behind them, also what a user wrote", () => {
    const tokenizer = vocabulary(texts);
    const prompt = [
      { text: "<|user|>\n", special: true },
      { text: "\n a", special: false },
      { text: "<|end|>\n<|assistant|>\n", special: true },
    ];
    expect(tokenizer.encode(prompt)).toEqual([user, a, end, assistant]);
    expect(tokenizer.encode([{ text: "<|endoftext|> a", special: true }])[1]).not.toBe(a);
    expect(tokenizer.encode([{ text: "<|endoftext|>", special: true }])).toEqual([endOfText]);
  });

  it("do not in other families", () => {
    const tokenizer = vocabulary(texts.filter((text) => !text.includes("placeholder")));
    expect(tokenizer.encode([{ text: "<|user|>\n<|end|>", special: true }]).length).toBeGreaterThan(2);
  });
});

describe("overlapping tokens", () => {
  it("the longest at a place wins", () => {
    const { tokenizer, first } = withSpecial(["<|a", 3], ["<|a|>", 3]);
    expect(tokenizer.encode([{ text: "<|a|><|ab", special: true }])).toEqual([first + 1, first, 0x62]);
  });

  it("a shorter one is found where the longer would reach into ordinary text", () => {
    const { tokenizer, first } = withSpecial(["<|a", 3], ["<|a|>", 3]);
    const spans = [
      { text: "<|a", special: true },
      { text: "|>", special: false },
    ];
    expect(tokenizer.encode(spans)).toEqual([first, 0x7c, 0x3e]);
  });
});

describe("find", () => {
  it("gives the ranges of control tokens and leaves the ones that always split", () => {
    const { special } = createTokenizer(byteVocabulary());
    expect(special.find("x<|im_end|>y<think><|im_start|>")).toEqual([
      [1, 11],
      [19, 31],
    ]);
  });
});
