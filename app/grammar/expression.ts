/** A context-free grammar over Unicode characters, as data; every source (schema, regular expression, EBNF) becomes one. */

/** Code points, both ends included. */
export type Range = readonly [from: number, to: number];

export type Expression =
  | { kind: "text"; text: string }
  /** One character; ascending ranges that do not touch, without surrogates. Empty: matches nothing. */
  | { kind: "class"; ranges: readonly Range[] }
  | { kind: "rule"; name: string }
  | { kind: "sequence"; parts: readonly Expression[] }
  /** Empty: matches nothing. */
  | { kind: "choice"; parts: readonly Expression[] }
  | { kind: "repeat"; part: Expression; least: number; most: number | null };

export interface Grammar {
  root: string;
  rules: ReadonlyMap<string, Expression>;
}

export const largestPoint = 0x10ffff;
const surrogates: Range = [0xd800, 0xdfff];

export const empty: Expression = { kind: "text", text: "" };
export const nothing: Expression = { kind: "choice", parts: [] };

export const text = (value: string): Expression => ({ kind: "text", text: value });
export const rule = (name: string): Expression => ({ kind: "rule", name });
export const sequence = (...parts: Expression[]): Expression =>
  parts.length === 1 && parts[0] ? parts[0] : { kind: "sequence", parts };
export const choice = (...parts: Expression[]): Expression =>
  parts.length === 1 && parts[0] ? parts[0] : { kind: "choice", parts };
export const optional = (part: Expression): Expression => ({ kind: "repeat", part, least: 0, most: 1 });

export function repeat(part: Expression, least: number, most: number | null): Expression {
  return least === 1 && most === 1 ? part : { kind: "repeat", part, least, most };
}

export function characters(...ranges: Range[]): Expression {
  return { kind: "class", ranges: normalised(ranges) };
}

/** Like "a-z0-9_"; a minus counts as such at the end. */
export function characterSet(spelled: string): Expression {
  const ranges: Range[] = [];
  const points = [...spelled].map((letter) => letter.codePointAt(0) as number);
  for (let at = 0; at < points.length; at++) {
    const from = points[at] as number;
    const ranged = points[at + 1] === 0x2d && at + 2 < points.length;
    ranges.push([from, ranged ? (points[at + 2] as number) : from]);
    if (ranged) at += 2;
  }
  return characters(...ranges);
}

export function normalised(ranges: readonly Range[]): Range[] {
  const sorted = [...ranges].sort((a, b) => a[0] - b[0]);
  const joined: [number, number][] = [];
  for (const [from, to] of sorted) {
    const last = joined[joined.length - 1];
    if (last !== undefined && from <= last[1] + 1) last[1] = Math.max(last[1], to);
    else joined.push([from, to]);
  }
  return without(joined, [surrogates]);
}

/** Both normalised, or at least ascending and apart. */
export function without(ranges: readonly Range[], removed: readonly Range[]): Range[] {
  let left: Range[] = [...ranges];
  for (const [from, to] of removed) {
    left = left.flatMap(([start, end]): Range[] => {
      if (to < start || from > end) return [[start, end]];
      const parts: Range[] = [];
      if (start < from) parts.push([start, from - 1]);
      if (end > to) parts.push([to + 1, end]);
      return parts;
    });
  }
  return left;
}

export function inverted(ranges: readonly Range[]): Range[] {
  return without(normalised([[0, largestPoint]]), normalised(ranges));
}

/** Shortest and longest match in code points; longest is Infinity where it has no end. A rule counts as anything. */
export function lengths(expression: Expression): { least: number; most: number } {
  switch (expression.kind) {
    case "text": {
      const length = [...expression.text].length;
      return { least: length, most: length };
    }
    case "class":
      return { least: 1, most: 1 };
    case "rule":
      return { least: 0, most: Number.POSITIVE_INFINITY };
    case "sequence": {
      const parts = expression.parts.map(lengths);
      return {
        least: parts.reduce((sum, part) => sum + part.least, 0),
        most: parts.reduce((sum, part) => sum + part.most, 0),
      };
    }
    case "choice": {
      const parts = expression.parts.map(lengths);
      return { least: Math.min(...parts.map((part) => part.least)), most: Math.max(...parts.map((part) => part.most)) };
    }
    case "repeat": {
      const { least, most } = lengths(expression.part);
      const times = expression.most ?? Number.POSITIVE_INFINITY;
      return { least: least * expression.least, most: most === 0 || times === 0 ? 0 : most * times };
    }
  }
}

/** The same with every literal and class changed; for text inside JSON strings. */
export function mapCharacters(
  expression: Expression,
  change: (part: Expression & { kind: "text" | "class" }) => Expression,
): Expression {
  switch (expression.kind) {
    case "text":
    case "class":
      return change(expression);
    case "rule":
      return expression;
    case "repeat":
      return { ...expression, part: mapCharacters(expression.part, change) };
    default:
      return { ...expression, parts: expression.parts.map((part) => mapCharacters(part, change)) };
  }
}
