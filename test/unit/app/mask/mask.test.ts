/** Masks of made-up grammars against a plain reading of them, and what may come before a grammar. */
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import type { GrammarThought } from "../../../../app/engine.ts";
import { pruned } from "../../../../app/grammar/check.ts";
import {
  characters,
  choice,
  type Expression,
  type Grammar,
  repeat,
  rule,
  sequence,
  text,
} from "../../../../app/grammar/expression.ts";
import { createMaskMaker, type MaskMaker, type TokenTexts } from "../../../../app/mask/mask.ts";
import type { State } from "../../../../app/mask/state.ts";
import { buildTrie } from "../../../../app/mask/trie.ts";
import { reader } from "../../../fixtures/grammar-text.ts";

const bytesOf = (value: string): string => Buffer.from(value, "utf8").toString("latin1");

function tokensOf(list: readonly string[], marks: Readonly<Record<number, string>> = {}): TokenTexts {
  const texts = list.map(bytesOf);
  return {
    texts,
    trie: buildTrie(texts),
    marks: new Map(Object.entries(marks).map(([id, value]) => [Number(id), bytesOf(value)])),
    repetitions: new Map(),
  };
}

const has = (mask: Uint32Array, id: number): boolean => (((mask[id >>> 5] ?? 0) >>> (id & 31)) & 1) === 1;

const letters = ["a", "b", "c", "é", "€", "😀", '"'];
const words = letters.flatMap((one) => ["", ...letters, "bb", "aé", '"a'].map((other) => one + other));
const list = [...new Set([...words, "aaaaa", "ababab", "ccccccc", 'éé"', 'a"b"c', "aaaa€", "😀😀😀"])];

const leaf: fc.Arbitrary<Expression> = fc.oneof(
  fc.constantFrom(...letters, "", "ab", "aa", "é€").map(text),
  fc.subarray(letters, { minLength: 1 }).map((of) => characters(...of.map((each) => point(each)))),
  fc.constant(characters([0x61, 0x10ffff])),
);
const point = (letter: string): [number, number] => {
  const code = letter.codePointAt(0) as number;
  return [code, code];
};

/** Calls have a letter before them, so that no rule begins with itself. */
const expression: fc.Arbitrary<Expression> = fc.letrec<{ any: Expression }>((tie) => ({
  any: fc.oneof(
    { maxDepth: 4, depthSize: "small" },
    leaf,
    fc.array(tie("any"), { minLength: 1, maxLength: 3 }).map((parts) => sequence(...parts)),
    fc.array(tie("any"), { minLength: 1, maxLength: 3 }).map((parts) => choice(...parts)),
    fc
      .tuple(tie("any"), fc.nat(3), fc.option(fc.nat(6), { nil: null }))
      .map(([part, least, more]) => repeat(part, least, more === null ? null : least + more)),
    fc
      .tuple(fc.constantFrom(...letters), fc.constantFrom("one", "two"))
      .map(([before, name]) => sequence(text(before), rule(name))),
  ),
})).any;

const grammars: fc.Arbitrary<Grammar> = fc.tuple(expression, expression, expression).map(([root, one, two]) => ({
  root: "root",
  rules: new Map([
    ["root", root],
    ["one", choice(text("c"), one)],
    ["two", choice(text("é"), two)],
  ]),
}));

describe("masks", () => {
  test("allow exactly what a grammar allows, whatever it is", () => {
    const tokens = tokensOf(list);
    const check = (given: Grammar, draws: readonly number[]): void => {
      const grammar = pruned(given);
      const maker = createMaskMaker(tokens, grammar, null);
      let state: State = maker.start;
      let reading = reader(grammar);
      let written = "";
      for (const draw of draws) {
        const mask = maker.mask(state);
        expect([written, "end", state.done]).toEqual([written, "end", reading.done]);
        const open: number[] = [];
        list.forEach((each, id) => {
          let after = reading;
          for (const letter of each) after = after.after(letter);
          if (has(mask, id) !== after.alive)
            throw new Error(`${JSON.stringify(written)} + ${JSON.stringify(each)}: ${after.alive}`);
          expect(maker.after(state, id) !== null).toBe(after.alive);
          if (after.alive) open.push(id);
        });
        const id = open[draw % Math.max(1, open.length)];
        if (id === undefined) return;
        state = maker.after(state, id) as State;
        for (const letter of list[id] as string) reading = reading.after(letter);
        written += list[id];
      }
    };
    fc.assert(fc.property(grammars, fc.array(fc.nat(10_000), { minLength: 8, maxLength: 8 }), check), { numRuns: 300 });
  });

  test("of a part that may come a hundred thousand times need no more than of one that may come twice", () => {
    const tokens = tokensOf(list);
    const body = repeat(characters([0x61, 0x7a]), 3, 100_000);
    const maker = createMaskMaker(
      tokens,
      { root: "root", rules: new Map([["root", sequence(body, text('"'))]]) },
      null,
    );
    let state = maker.start;
    const fifth = list.indexOf("aaaaa");
    for (let step = 0; step < 19_999; step++) state = maker.after(state, fifth) as State;
    expect(has(maker.mask(state), fifth)).toBe(true);
    expect(has(maker.mask(state), list.indexOf("ababab"))).toBe(false);
    for (let step = 0; step < 3; step++) state = maker.after(state, list.indexOf("a")) as State;
    expect([
      has(maker.mask(state), fifth),
      has(maker.mask(state), list.indexOf("bbb")),
      has(maker.mask(state), list.indexOf("bb")),
    ]).toEqual([false, false, true]);
  });

  test("of rules that refer to themselves and nothing else are those of the rest", () => {
    const rules = new Map<string, Expression>([
      ["root", choice(rule("other"), text("a"))],
      ["other", choice(rule("root"), sequence(text("b"), rule("root")))],
    ]);
    const maker = createMaskMaker(tokensOf(list), { root: "root", rules }, null);
    const state = maker.after(maker.start, list.indexOf("b")) as State;
    expect(has(maker.mask(state), list.indexOf("a"))).toBe(true);
    expect(has(maker.mask(state), list.indexOf("c"))).toBe(false);
  });

  test("of a rule that begins with itself are refused", () => {
    const rules = new Map<string, Expression>([["root", choice(text("a"), sequence(rule("root"), text("b")))]]);
    expect(() => createMaskMaker(tokensOf(list), { root: "root", rules }, null)).toThrow("begins with itself");
  });
});

describe("a thought before a grammar", () => {
  /** Each step: a token, or one that must not come. */
  const thought: GrammarThought = {
    begun: false,
    opens: [{ text: "<think>", to: "thought" }],
    leads: [{ text: "</think>", to: "answer" }],
    never: [],
    answers: [],
  };
  const vocabulary = [
    "",
    "",
    "",
    "a",
    "b",
    " ",
    "\n",
    "<",
    "</",
    "think",
    ">",
    ">\n\n",
    ">a",
    ">b",
    "ab",
    "</think>",
    "<think>b",
    "é",
  ];
  const grammar: Grammar = { root: "root", rules: new Map([["root", text("ab")]]) };
  const marks = { 1: "<think>", 2: "</think>" };

  function follow(maker: MaskMaker, path: readonly (number | string)[]): State {
    let state = maker.start;
    for (const step of path) {
      const id = typeof step === "number" ? step : vocabulary.indexOf(step);
      expect([path, step, has(maker.mask(state), id)]).toEqual([path, step, true]);
      state = maker.after(state, id) as State;
    }
    return state;
  }
  const refused = (maker: MaskMaker, path: readonly (number | string)[], next: number | string): void => {
    const state = follow(maker, path);
    const id = typeof next === "number" ? next : vocabulary.indexOf(next);
    expect([path, next, has(maker.mask(state), id), maker.after(state, id)]).toEqual([path, next, false, null]);
  };

  test("is free, and the grammar begins behind it", () => {
    const maker = createMaskMaker(tokensOf(vocabulary, marks), grammar, thought);
    for (const path of [
      ["a", "b"],
      ["ab"],
      [1, "b", "é", "\n", "<", 2, "ab"],
      [1, "</", "</", "think", ">", "ab"],
      [" ", "\n", "<", "think", ">", "b", "</think>", "\n", " ", "a", "b"],
      [1, "</", "think", ">\n\n", "ab"],
      [1, "</", "think", ">a", "b"],
      [1, 1, "b", 2, "ab"],
      ["<think>b", 2, "ab"],
    ]) {
      expect([path, follow(maker, path).done]).toEqual([path, true]);
    }
    // It does not end in a thought, and what the end's token brings with it has to fit.
    for (const path of [[1], [1, "b"], [1, "b", 2], [1, "b", 2, "a"]]) expect(follow(maker, path).done).toBe(false);
    refused(maker, [1, "</", "think"], ">b");
    refused(maker, [1, "b", 2], 1);
    refused(maker, [1, "b", 2], "b");
    refused(maker, [1, "b", 2, "a"], 2);
    refused(maker, ["a"], 1);
    // White space comes to an end.
    refused(maker, [1, 2, ...Array.from({ length: 16 }, () => " ")], " ");
    refused(
      maker,
      Array.from({ length: 16 }, () => "\n"),
      "\n",
    );
    refused(maker, [], 2);
    refused(maker, [" "], "b");
  });

  test("may have been begun by the prompt", () => {
    const maker = createMaskMaker(tokensOf(vocabulary, marks), grammar, { ...thought, begun: true });
    expect(follow(maker, ["b", 2, "ab"]).done).toBe(true);
    expect(follow(maker, ["ab"]).done).toBe(false);
    refused(maker, [2], "b");
  });

  test("wins over a grammar that would allow its words as well", () => {
    const any: Grammar = { root: "root", rules: new Map([["root", repeat(characters([0, 0x10ffff]), 0, null)]]) };
    const maker = createMaskMaker(tokensOf(vocabulary, marks), any, thought);
    expect(maker.start.done).toBe(true);
    expect(follow(maker, ["<", "think"]).done).toBe(true);
    expect(follow(maker, ["<", "think", ">"]).done).toBe(false);
    expect(follow(maker, ["<", "think", ">", "a", 2]).done).toBe(true);
    expect(follow(maker, ["<", "think", "a"]).done).toBe(true);
  });

  test("may have several ends, words before the answer, and marks that come nowhere else", () => {
    const channels: GrammarThought = {
      begun: false,
      opens: [
        { text: "<|c|>t<|m|>", to: "thought" },
        { text: "<|c|>f<|m|>", to: "answer" },
      ],
      leads: [
        { text: "<|e|><|c|>t<|m|>", to: "thought", bound: "<|e|>" },
        { text: "<|e|><|c|>f<|m|>", to: "answer", bound: "<|e|>" },
        { text: "<|e|><|c|>x<|m|>", to: "answer", bound: "<|e|>" },
      ],
      never: ["<|e|>", "<|c|>", "<|m|>"],
      answers: ["c"],
    };
    const texts = ["", "", "", "t", "f", "x", "ab", "c", "<", "|e|>", "|c|>", "|m|>"];
    const maker = createMaskMaker(tokensOf(texts, { 0: "<|c|>", 1: "<|m|>", 2: "<|e|>" }), grammar, channels);
    const done = (path: readonly number[]): boolean | null => {
      let state: State = maker.start;
      for (const id of path) {
        if (!has(maker.mask(state), id)) return null;
        state = maker.after(state, id) as State;
      }
      return state.done;
    };
    expect(done([6])).toBe(true);
    expect(done([0, 4, 1, 6])).toBe(true);
    expect(done([0, 4, 1, 7, 6])).toBe(true);
    expect(done([0, 3, 1, 8, 7, 2, 0, 3, 1, 8, 2, 0, 4, 1, 6])).toBe(true);
    expect(done([0, 3, 1, 3, 2, 0, 5, 1, 7, 6])).toBe(true);
    expect(done([0, 3, 1, 3, 8, 9, 8, 10, 4, 8, 11, 6])).toBe(true);
    // What begins like a header has to be one, and no mark comes without it.
    expect(done([0, 3, 1, 7, 2, 0])).toBe(false);
    expect(done([0, 3, 1, 7, 2, 2])).toBe(null);
    expect(done([0, 3, 1, 7, 2, 0, 7])).toBe(null);
    expect(done([0, 3, 1, 7, 0])).toBe(null);
    expect(done([0, 3, 1, 7, 8, 10])).toBe(null);
    expect(done([0, 3, 1, 7, 2, 0, 4, 1, 3])).toBe(null);
    expect(done([0, 4, 1, 7, 7])).toBe(null);
    expect(done([0, 5])).toBe(null);
  });
});
