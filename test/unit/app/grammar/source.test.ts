/** Regular expressions and EBNF: what they allow, and where their faults are. */
import { describe, expect, test } from "vitest";
import type { GrammarSource } from "../../../../app/engine.ts";
import { HalogenError } from "../../../../app/error.ts";
import { readGrammar } from "../../../../app/grammar/grammar.ts";
import { reader } from "../../../fixtures/grammar-text.ts";

function allows(source: GrammarSource, text: string): boolean {
  let state = reader(readGrammar(source));
  for (const letter of text) state = state.after(letter);
  return state.done;
}

function refusal(source: GrammarSource): HalogenError {
  try {
    readGrammar(source);
  } catch (error) {
    expect(error).toBeInstanceOf(HalogenError);
    return error as HalogenError;
  }
  throw new Error(`${source.source} was taken`);
}

const texts = [
  "",
  "a",
  "b",
  "ab",
  "aab",
  "abc",
  "aaaa",
  "é",
  "😀",
  "1",
  "12",
  "a1",
  "a-b",
  "]",
  "\\",
  "\n",
  " ",
  "\t",
  "x.y",
  "xzy",
  "A",
  "_",
  "{",
  "abab",
  "aXb",
];

describe("regular expressions", () => {
  test.each([
    "a",
    "ab?",
    "a*",
    "a+b",
    "(ab)+",
    "a{2}",
    "a{2,3}b?",
    "a{0,4}",
    "a|ab|",
    "[a-c]+",
    "[^a]",
    "[^a-z]*",
    "[\\]a]",
    "[a\\-b]+",
    "[-a]b?",
    "a[.-]b",
    ".",
    "..",
    "\\d+",
    "\\D",
    "\\w*",
    "\\W",
    "\\s",
    "\\S+",
    "x\\.y",
    "x.y",
    "\\\\",
    "\\n|\\t",
    "\\x61",
    "\\u0061b",
    "\\u{1f600}",
    "\\ud83d\\ude00",
    "(?:a|b)+?",
    "(?<n>a)b",
    "[\\d_]",
    "\\{",
    "^ab$",
    "^a|b$",
    "[^]",
    "a{1,}",
  ])("mean what they mean in JavaScript: %s", (source) => {
    const own = new RegExp(`^(?:${source.replace(/^\^|\$$/g, "")})$`, "u");
    for (const text of texts) expect([text, allows({ kind: "regex", source }, text)]).toEqual([text, own.test(text)]);
  });

  test.each<[string, string, number]>([
    ["a(b", "grammar.invalid", 1],
    ["ab)", "grammar.invalid", 2],
    ["[a", "grammar.invalid", 0],
    ["[z-a]", "grammar.invalid", 1],
    ["a{3,2}", "grammar.invalid", 1],
    ["*a", "grammar.invalid", 0],
    ["ab\\", "grammar.invalid", 2],
    ["\\y", "grammar.invalid", 0],
    ["\\u12", "grammar.invalid", 0],
    ["a{x", "grammar.invalid", 1],
    ["x(?=a)", "grammar.unsupported", 1],
    ["(?<!a)b", "grammar.unsupported", 0],
    ["a\\b", "grammar.unsupported", 1],
    ["(a)\\1", "grammar.unsupported", 3],
    ["\\p{L}", "grammar.unsupported", 0],
    ["a(^b)", "grammar.unsupported", 2],
    ["a{20000}", "grammar.unsupported", 1],
  ])("are refused with the place: %s", (source, code, position) => {
    const error = refusal({ kind: "regex", source });
    expect([error.code, error.detail.position]).toEqual([code, position]);
    expect(error.message).toContain(`character ${position + 1}`);
  });

  test("that match nothing are impossible", () => {
    expect(refusal({ kind: "regex", source: "a[^\\s\\S]" }).code).toBe("grammar.impossible");
  });
});

describe("EBNF", () => {
  const list: GrammarSource = {
    kind: "ebnf",
    source: `# a list of pairs
pair ::= key "=" value      # the first rule is the whole
key ::= [a-z_]+ | 'my "key"'
value ::= "(" (pair ("," pair)*)? ")"
  | [0-9]{1,3} | "\\x41\\u00e9\\n"
`,
  };

  test.each([
    ["a=1", true],
    ["a=()", true],
    ["a_b=(c=1,d=(e=22))", true],
    ['my "key"=333', true],
    ["a=Aé\n", true],
    ["a=1234", false],
    ["a=(b)", false],
    ["=1", false],
    ["a=(c=1,)", false],
  ])("%j: %s", (text, fits) => {
    expect(allows(list, text)).toBe(fits);
  });

  test("takes the rule called root where there is one, and the first otherwise", () => {
    expect(allows({ kind: "ebnf", source: 'a ::= "x"\nroot ::= a a' }, "xx")).toBe(true);
    expect(allows({ kind: "ebnf", source: 'a ::= b\nb ::= "y"' }, "y")).toBe(true);
  });

  test.each<[string, number, number, string]>([
    ['root ::= "a" |', 1, 15, "empty"],
    ['root ::= "a', 1, 10, "not closed"],
    ["root ::= [a-", 1, 10, "not closed"],
    ["root ::= [z-a]", 1, 11, "backwards"],
    ['root ::= ("a"\nb ::= "c"', 1, 10, "not closed"],
    ['root ::= "a" )', 1, 14, "closes nothing"],
    ['root ::= "a"\nroot ::= "b"', 2, 1, "already"],
    ["root ::= a\na ::= (b | nothing)\nb ::= 'x'", 2, 12, "nothing"],
    ['root ::= "é" "\\u12"', 1, 15, "digits"],
    ['root = "a"', 1, 1, "a rule is expected"],
    ["", 1, 1, "no rule"],
    ['root ::= root "a" | "a"', 1, 1, "begins with itself"],
    ['root ::= a\na ::= b? root "x" | "y"\nb ::= "z"', 1, 1, "begins with itself"],
    ['root ::= "a"{3,2}', 1, 13, "more than"],
  ])("is refused with line and column: %j", (source, line, column, words) => {
    const error = refusal({ kind: "ebnf", source });
    expect([error.code, error.detail.line, error.detail.column]).toEqual(["grammar.invalid", line, column]);
    expect(error.message).toContain(words);
  });

  test("whose rules never end is impossible, and an alternative that never ends is left out", () => {
    expect(refusal({ kind: "ebnf", source: 'root ::= "a" more\nmore ::= "b" more' })).toMatchObject({
      code: "grammar.impossible",
      detail: { rule: "more" },
    });
    expect(allows({ kind: "ebnf", source: 'root ::= "a" | "b" more\nmore ::= "c" more' }, "a")).toBe(true);
  });
});

describe("sources beyond any measure", () => {
  const nested = (depth: number): string => `${"(".repeat(depth)}a${")".repeat(depth)}`.replaceAll("a", '"a"');

  test("are refused and overflow nothing", () => {
    expect(refusal({ kind: "regex", source: nested(3000) })).toMatchObject({
      code: "grammar.unsupported",
      detail: { position: 200 },
    });
    expect(refusal({ kind: "ebnf", source: `root ::= ${nested(3000)}` })).toMatchObject({
      code: "grammar.invalid",
      detail: { line: 1, column: 210 },
    });
    const chain = Array.from({ length: 20_000 }, (_, i) => `r${i} ::= "a" r${i + 1}`).join("\n");
    for (const each of [
      { kind: "regex", source: "a?".repeat(200_000) },
      { kind: "ebnf", source: `${chain}\nr20000 ::= "b"` },
    ] as const) {
      expect(refusal(each).code).toBe("grammar.unsupported");
    }
  });

  test("are taken where they only look so", () => {
    expect(allows({ kind: "regex", source: "(a)".repeat(400) }, "a".repeat(400))).toBe(true);
    expect(allows({ kind: "ebnf", source: `root ::= ${nested(150)}` }, "a")).toBe(true);
  });
});
