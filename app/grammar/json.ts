/** JSON itself. What a grammar here allows is always valid; numbers are bounded so that every reader gets them as written. */
import {
  characterSet,
  choice,
  type Expression,
  largestPoint,
  mapCharacters,
  optional,
  type Range,
  repeat,
  rule,
  sequence,
  text,
  without,
} from "./expression.ts";

export const comma: Expression = sequence(text(","), rule("json_space"));

/** Little, as people write it: endless white space is what a model falls into. */
const space = choice(text(""), text(" "), sequence(text("\n"), repeat(characterSet(" \t"), 0, 20)));
const digit = characterSet("0-9");
const hex = characterSet("0-9a-fA-F");

/** Characters that stand for themselves inside a string. */
const plain: readonly Range[] = without(
  [[0x20, largestPoint]],
  [
    [0x22, 0x22],
    [0x5c, 0x5c],
    [0xd800, 0xdfff],
  ],
);

/**
 * One character of a string, written in any way; surrogates only as a pair, which is one character. Not a rule of its own: app/mask makes a table of
 * what is repeated, which has no rules in it.
 */
export const character = choice(
  { kind: "class", ranges: plain },
  sequence(text("\\"), characterSet('"\\/bfnrt')),
  sequence(
    text("\\u"),
    choice(
      sequence(characterSet("0-9a-ce-fA-CE-F"), hex, hex, hex),
      sequence(characterSet("dD"), characterSet("0-7"), hex, hex),
      sequence(
        sequence(characterSet("dD"), characterSet("89abAB"), hex, hex),
        text("\\u"),
        sequence(characterSet("dD"), characterSet("c-fC-F"), hex, hex),
      ),
    ),
  ),
);

/** Up to 15 digits are exact in every reader. */
const mostDigits = 15;
const whole = choice(text("0"), sequence(characterSet("1-9"), repeat(digit, 0, mostDigits - 1)));

export const jsonRules: ReadonlyMap<string, Expression> = new Map([
  ["json_space", space],
  ["json_string", sequence(text('"'), repeat(character, 0, null), text('"'))],
  [
    "json_integer",
    choice(text("0"), sequence(optional(text("-")), characterSet("1-9"), repeat(digit, 0, mostDigits - 1))),
  ],
  [
    "json_number",
    sequence(
      optional(text("-")),
      whole,
      optional(sequence(text("."), repeat(digit, 1, mostDigits))),
      optional(sequence(characterSet("eE"), optional(characterSet("+-")), repeat(digit, 1, 2))),
    ),
  ],
  ["json_object", surrounded("{", "}", member(rule("json_string"), rule("json_value")))],
  ["json_array", surrounded("[", "]", rule("json_value"))],
  [
    "json_value",
    choice(
      rule("json_object"),
      rule("json_array"),
      rule("json_string"),
      rule("json_number"),
      text("true"),
      text("false"),
      text("null"),
    ),
  ],
]);

export function member(key: Expression, value: Expression): Expression {
  return sequence(key, text(":"), rule("json_space"), value);
}

/** Any number of items between brackets. */
export function surrounded(
  open: string,
  close: string,
  item: Expression,
  least = 0,
  most: number | null = null,
): Expression {
  const items = counted(item, least, most);
  return sequence(text(open), rule("json_space"), ...(items === null ? [] : [items, rule("json_space")]), text(close));
}

/** `least` to `most` items with commas between; null when there can be none. */
export function counted(item: Expression, least: number, most: number | null): Expression | null {
  if (most === 0) return null;
  const more = repeat(sequence(comma, item), Math.max(0, least - 1), most === null ? null : most - 1);
  const some = sequence(item, more);
  return least === 0 ? optional(some) : some;
}

export const jsonString = (content: Expression): Expression => sequence(text('"'), content, text('"'));

/** `least` to `most` characters in quotes. */
export function sizedString(least: number, most: number | null): Expression {
  return jsonString(repeat(character, least, most));
}

/** The expression of a text as the expression of that text inside quotes. */
export function insideString(expression: Expression): Expression {
  return mapCharacters(expression, (part) => {
    if (part.kind === "text") return text(JSON.stringify(part.text).slice(1, -1));
    const direct = part.ranges.length === 0 ? [] : intersection(part.ranges, plain);
    const special = ['"', "\\", "\n", "\r", "\t"].filter((letter) => has(part.ranges, letter.codePointAt(0) as number));
    return choice(
      { kind: "class", ranges: direct },
      ...special.map((letter) => text(JSON.stringify(letter).slice(1, -1))),
    );
  });
}

function has(ranges: readonly Range[], point: number): boolean {
  return ranges.some(([from, to]) => from <= point && point <= to);
}

function intersection(one: readonly Range[], other: readonly Range[]): Range[] {
  return one.flatMap(([from, to]) =>
    other.flatMap(([start, end]): Range[] =>
      Math.max(from, start) <= Math.min(to, end) ? [[Math.max(from, start), Math.min(to, end)]] : [],
    ),
  );
}

/** A member name that is none of `taken`: letters, digits and signs that need no backslash, at least one. */
export function otherName(taken: readonly string[]): Expression {
  const allowed = without(
    [[0x20, 0x7e]],
    [
      [0x22, 0x22],
      [0x5c, 0x5c],
    ],
  );
  const any: Expression = { kind: "class", ranges: allowed };
  const from = (names: readonly string[], mayEnd: boolean): Expression => {
    const next = new Map<string, string[]>();
    for (const name of names) {
      const [letter] = [...name];
      if (letter !== undefined) next.set(letter, [...(next.get(letter) ?? []), name.slice(letter.length)]);
    }
    const heads = [...next.keys()].map(
      (letter): Range => [letter.codePointAt(0) as number, letter.codePointAt(0) as number],
    );
    const branches: Expression[] = mayEnd && !names.includes("") ? [text("")] : [];
    branches.push(sequence({ kind: "class", ranges: without(allowed, heads) }, repeat(any, 0, null)));
    for (const [letter, rests] of next) {
      if (has(allowed, letter.codePointAt(0) as number)) branches.push(sequence(text(letter), from(rests, true)));
    }
    return choice(...branches);
  };
  return jsonString(from(taken, false));
}
