/** Masks against a plain reading of the grammar, character by character, over a small vocabulary. */
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import type { GrammarSource } from "../../../../app/engine.ts";
import { readGrammar } from "../../../../app/grammar/grammar.ts";
import { createTokenizer } from "../../../../app/token/tokenizer.ts";
import { createGrammarCompiler, grammarTexts } from "../../../../native/grammar/compiler.ts";
import { reader } from "../../../fixtures/grammar-text.ts";
import { byteVocabulary, firstPiece, pieceVocabulary } from "../../app/token/vocabulary.ts";

const pieces = [
  '{"',
  '":',
  '", "',
  "},",
  "[]",
  "12",
  "0.",
  "tr",
  "true",
  "ab",
  "abc",
  " a",
  "\n  ",
  "é",
  "€uro",
  "\\n",
  "\\u00",
  "null}",
  '"}',
  "-1",
];
const vocabulary = byteVocabulary(pieces);
const tokenizer = createTokenizer(vocabulary);
/** Tokens that print whole characters; markup never comes, and bytes of longer characters are looked at on their own. */
const letters = Array.from({ length: tokenizer.count }, (_, id) => id).filter((id) => {
  const text = tokenizer.decode([id]);
  return tokenizer.isControl(id) || !(text.includes("\ufffd") || /^<.*>$/.test(text));
});
const end = tokenizer.eos ?? -1;

const sources: Record<string, GrammarSource> = {
  json: { kind: "json", source: "" },
  schema: {
    kind: "json_schema",
    source: JSON.stringify({
      type: "object",
      properties: {
        ab: { type: "string", maxLength: 4 },
        abc: { type: "integer", minimum: -12, maximum: 120 },
        more: { type: "array", items: { enum: [true, null, "ab", 0.5] } },
        "é€": { type: "number", minimum: -1.5, maximum: 12 },
      },
      required: ["abc"],
      additionalProperties: { type: "boolean" },
    }),
  },
  lengths: {
    kind: "json_schema",
    source: JSON.stringify({
      type: "object",
      properties: {
        a: { type: "string", minLength: 3, maxLength: 7 },
        b: { type: "array", items: { type: "string", maxLength: 2 }, maxItems: 3 },
        c: { type: "string", pattern: "^[a-b]{2,5}é{1,2}$" },
      },
      required: ["a", "b"],
    }),
  },
  same: {
    kind: "json_schema",
    source: JSON.stringify({
      anyOf: [
        { type: "string", maxLength: 3 },
        { type: "string", minLength: 5, maxLength: 6 },
        { type: "object", properties: { a: { $ref: "#" } } },
        { $ref: "#" },
      ],
    }),
  },
  regex: { kind: "regex", source: '^(ab|abc?)+[^a-z"]{2,3}(é|€uro)?\\n\\s*12$' },
  counted: { kind: "regex", source: "([a-c]{1,3}1){2,4}[^1]{3,9}1?(ab){0,300}([a-z]*|abc)" },
  long: { kind: "regex", source: '[^"]{2,10000}"(é|[a€]{3}){2,}' },
  ebnf: {
    kind: "ebnf",
    source:
      'root ::= item ("," space item){0,3} # a list\nitem ::= [a-c0-9]+ | "(" root ")" | \'"\' [^"\\n]* \'"\'\nspace ::= " "?',
  },
};

describe("masks", () => {
  test.each(Object.entries(sources))("allow exactly what the grammar allows: %s", async (_, source) => {
    const compiler = createGrammarCompiler(vocabulary);
    const begin = reader(readGrammar(source));
    const seed = fc.readConfigureGlobal()?.seed ?? 1;
    let draws = seed >>> 0;
    const random = (): number => {
      draws = (Math.imul(draws, 1664525) + 1013904223) >>> 0;
      return draws / 2 ** 32;
    };
    let finished = 0;
    for (let walk = 0; walk < 25; walk++) {
      const matcher = compiler.start({ source, thought: null, written: "", stops: [end] });
      let state = begin;
      let written = "";
      for (let step = 0; step < 40; step++) {
        const mask = matcher.mask();
        const has = (id: number): boolean => (((mask[id >>> 5] ?? 0) >>> (id & 31)) & 1) === 1;
        const open: number[] = [];
        for (const id of letters) {
          const text = tokenizer.isControl(id) ? null : tokenizer.decode([id]);
          let after = state;
          for (const letter of text ?? "") after = after.after(letter);
          const allowed = text !== null && text !== "" && after.alive;
          if (id === end) expect([written, "end", has(id)]).toEqual([written, "end", state.done]);
          else expect([written, text, has(id)]).toEqual([written, text, allowed]);
          if (allowed) open.push(id);
        }
        if (state.done && (open.length === 0 || random() < 0.2)) {
          finished++;
          break;
        }
        // Long pieces more often, so that borders inside tokens are met.
        const long = open.filter((id) => id > 258);
        const id = (random() < 0.5 && long.length > 0 ? long : open)[
          Math.floor(random() * (random() < 0.5 && long.length > 0 ? long.length : open.length)) % open.length
        ];
        if (id === undefined) break;
        expect(matcher.accept(id)).toBe(true);
        const text = tokenizer.decode([id]);
        for (const letter of text) state = state.after(letter);
        written += text;
      }
    }
    expect(finished).toBeGreaterThan(0);
  });

  test("hold for the bytes of one character, too", async () => {
    const compiler = createGrammarCompiler(vocabulary);
    const matcher = compiler.start({
      source: { kind: "regex", source: "[é-ñ]x" },
      thought: null,
      written: "",
      stops: [end],
    });
    const allowed = async (): Promise<number[]> => {
      const mask = matcher.mask();
      return Array.from({ length: tokenizer.count }, (_, id) => id).filter(
        (id) => (((mask[id >>> 5] ?? 0) >>> (id & 31)) & 1) === 1,
      );
    };
    const piece = tokenizer.encode([{ text: "é", special: false }])[0] ?? -1;
    expect(piece).toBeGreaterThan(258);
    expect(await allowed()).toEqual([0xc3, piece]);
    matcher.accept(0xc3);
    expect(await allowed()).toEqual([0xa9, 0xaa, 0xab, 0xac, 0xad, 0xae, 0xaf, 0xb0, 0xb1]);
    matcher.accept(0xb1);
    expect(await allowed()).toEqual(["x".charCodeAt(0)]);
  });

  test("a grammar is compiled once and begins anew for each reply", async () => {
    const compiler = createGrammarCompiler(vocabulary);
    const source: GrammarSource = { kind: "ebnf", source: 'root ::= "ab"' };
    for (let i = 0; i < 40; i++) {
      const matcher = compiler.start({
        source: i % 2 === 0 ? source : { kind: "regex", source: `a{${i}}` },
        thought: null,
        written: "",
        stops: [end],
      });
      expect(matcher.accept("a".charCodeAt(0))).toBe(true);
    }
  });

  test("faults come back as such and harm nothing that comes later", async () => {
    const compiler = createGrammarCompiler(vocabulary);
    for (const source of [
      { kind: "regex", source: "(" },
      { kind: "ebnf", source: "root ::= root" },
      { kind: "json_schema", source: '{"not":{}}' },
    ] as const) {
      expect(() => compiler.start({ source, thought: null, written: "", stops: [end] })).toThrow(
        expect.objectContaining({ code: expect.stringMatching(/^grammar\./) }),
      );
    }
    expect(
      compiler.start({ source: { kind: "json", source: "" }, thought: null, written: "", stops: [] }).accept(0x7b),
    ).toBe(true);
  });
});

describe("what tokens print for a grammar", () => {
  test("control tokens and markup print nothing, bytes and pieces what they are", () => {
    const { texts, marks } = grammarTexts(tokenizer, vocabulary);
    expect([texts[256], texts[257], texts[258]]).toEqual(["", "", ""]);
    expect(texts[0x20]).toBe(" ");
    expect(texts["a".charCodeAt(0)]).toBe("a");
    expect(texts[0x0a]).toBe("\n");
    expect(texts[0xe9]).toBe("\u00e9");
    expect([...marks.keys()].every((id) => texts[id] === "")).toBe(true);
  });

  test("of a SentencePiece vocabulary: the space mark is a space, byte tokens are bytes", () => {
    const made = pieceVocabulary([
      ["▁ab", -1],
      ["c", -2],
    ]);
    const { texts } = grammarTexts(createTokenizer(made), made);
    expect(texts.slice(0, 3)).toEqual(["", "", ""]);
    expect(texts[3 + 0x0a]).toBe("\n");
    expect(texts[firstPiece]).toBe(" ab");
    expect(texts[firstPiece + 1]).toBe("c");
  });
});
