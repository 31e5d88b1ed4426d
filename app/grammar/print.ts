/** A grammar as the EBNF that xgrammar reads. */
import { canBeEmpty, nullableRules } from "./check.ts";
import type { Expression, Grammar, Range } from "./expression.ts";

/** Repetitions are written out up to this many. */
export const block = 64;

export function printGrammar({ root, rules }: Grammar): string {
  // Names of ours, so that no name of a user's is one that the library makes itself.
  const names = new Map([...rules.keys()].map((name, index) => [name, name === root ? "root" : `r${index}`]));
  const nameOf = (name: string): string => names.get(name) ?? "";
  /** Characters beyond ASCII, by how they are written. */
  const beyond = new Map<string, string>();
  const tails: string[] = [];
  const empties = nullableRules({ root, rules });

  const printed = (expression: Expression): string => {
    switch (expression.kind) {
      case "text":
        return `"${[...expression.text].map((letter) => escaped(letter.codePointAt(0) as number)).join("")}"`;
      case "class":
        return printedClass(expression.ranges);
      case "rule":
        return nameOf(expression.name);
      case "sequence":
        return printedSequence(flattened(expression));
      case "choice":
        return `(${expression.parts.map(printed).join(" | ")})`;
      case "repeat":
        return printedRepeat(expression.part, expression.least, expression.most);
    }
  };

  const rule = (body: string): string => {
    const name = `t${tails.length}`;
    tails.push(`${name} ::= ${body}\n`);
    return name;
  };

  /** Each count is a state of its own to compile: beyond a block of them, whole blocks are counted. */
  const printedRepeat = (part: Expression, least: number, most: number | null): string => {
    if (most === 0) return '""';
    if (most === null && least < 2) return `(${printed(part)})${least === 0 ? "*" : "+"}`;
    if (least === 0 && most === 1) return `(${printed(part)})?`;
    const counts = Math.max(least, most ?? 0);
    // A state for each count, compiled for the whole vocabulary, is worth it where few tokens fit; else one rule is counted.
    const narrow = part.kind === "class" && part.ranges.every(([, to]) => to < 0x80) && counts <= block;
    const one = narrow ? printed(part) : rule(printed(part));
    if (counts <= block) return `${one}{${least},${most ?? ""}}`;
    const blocks = rule(`${one}{${block}}`);
    const exactly = (count: number): string[] => {
      const [whole, rest] = [Math.floor(count / block), count % block];
      return [...(whole > 0 ? [`${blocks}{${whole}}`] : []), ...(rest > 0 ? [`${one}{${rest}}`] : [])];
    };
    if (most === null) return `(${[...exactly(least), `${one}*`].join(" ")})`;
    const free = most - least;
    const [whole, rest] = [Math.floor(free / block), free % block];
    if (whole === 0) return `(${[...exactly(least), ...(free > 0 ? [`${one}{0,${free}}`] : [])].join(" ")})`;
    const under = [...(whole > 1 ? [`${blocks}{0,${whole - 1}}`] : []), `${one}{0,${block - 1}}`].join(" ");
    const full = [`${blocks}{${whole}}`, ...(rest > 0 ? [`${one}{0,${rest}}`] : [])].join(" ");
    return `(${[...exactly(least), `(${under} | ${full})`].join(" ")})`;
  };

  /**
   * Masks are made rule by rule, and whatever may reach over the end of a rule has to be tried anew each time. So a repetition takes what follows it into
   * its own rule: "x* rest" is t ::= x t | rest.
   */
  const printedSequence = (parts: readonly Expression[]): string => {
    const loop = parts.findIndex(
      (part, index) =>
        part.kind === "repeat" &&
        part.most === null &&
        part.least < 2 &&
        index < parts.length - 1 &&
        !canBeEmpty(part.part, empties),
    );
    if (loop < 0) return parts.length === 0 ? '""' : `(${parts.map(printed).join(" ")})`;
    const before = parts.slice(0, loop).map(printed);
    const { part, least } = parts[loop] as Expression & { kind: "repeat" };
    const name = `t${tails.length}`;
    tails.push("");
    const body = printed(part);
    const rest = printedSequence(parts.slice(loop + 1));
    tails[Number(name.slice(1))] = `${name} ::= ${body} ${name} | ${rest}\n`;
    const first = least === 0 ? [] : [least === 1 ? body : `(${body}){${least}}`];
    return `(${[...before, ...first, name].join(" ")})`;
  };

  const printedClass = (ranges: readonly Range[]): string => {
    const ascii = ranges.filter(([from]) => from < 0x80).map(([from, to]): Range => [from, Math.min(to, 0x7f)]);
    const sequences = byteSequences(ranges);
    const branches = ascii.length > 0 ? [byteClass(ascii)] : [];
    if (sequences.length > 0) {
      const body = sequences.map((bytes) => bytes.map((range) => byteClass([range])).join(" ")).join(" | ");
      const name = beyond.get(body) ?? `u${beyond.size}`;
      beyond.set(body, name);
      branches.push(name);
    }
    return branches.length === 1 ? (branches[0] ?? "") : `(${branches.join(" | ")})`;
  };

  const lines = [...rules].map(([name, body]) => `${nameOf(name)} ::= ${printed(body)}\n`);
  lines.push(...tails);
  for (const [body, name] of beyond) lines.push(`${name} ::= ${body}\n`);
  return lines.join("");
}

/**
 * xgrammar 0.1.27 takes the characters of a class for bytes (and goes wrong above U+00FF), which is what is made use of. A class of one it turns into a
 * text, which is of characters again: so a single byte stands twice.
 */
function byteClass(ranges: readonly Range[]): string {
  const spelled = ranges.map(([from, to]) => {
    if (from !== to) return `${escaped(from)}-${escaped(to)}`;
    return from < 0x80 ? escaped(from) : escaped(from).repeat(2);
  });
  return `[${spelled.join("")}]`;
}

/** Letters and digits as they are, the rest by number: no character has a meaning of its own then. */
function escaped(point: number): string {
  if ((point >= 0x30 && point <= 0x39) || (point >= 0x41 && point <= 0x5a) || (point >= 0x61 && point <= 0x7a)) {
    return String.fromCharCode(point);
  }
  return point <= 0xffff ? `\\u${point.toString(16).padStart(4, "0")}` : `\\U${point.toString(16).padStart(8, "0")}`;
}

function flattened(expression: Expression): Expression[] {
  return expression.kind === "sequence" ? expression.parts.flatMap(flattened) : [expression];
}

/** The UTF-8 of all characters beyond ASCII in these ranges, as sequences of byte ranges. */
export function byteSequences(ranges: readonly Range[]): Range[][] {
  const found: Range[][] = [];
  const lengths: readonly Range[] = [
    [0x80, 0x7ff],
    [0x800, 0xffff],
    [0x10000, 0x10ffff],
  ];
  for (const [from, to] of ranges) {
    lengths.forEach(([first, last], index) => {
      const low = Math.max(from, first);
      const high = Math.min(to, last);
      if (low <= high) found.push(...split(low, high, index + 1));
    });
  }
  return found;
}

/** Characters low..high, all with `more` bytes behind the first, so that each byte's range is independent of the others. */
function split(low: number, high: number, more: number): Range[][] {
  for (let tail = more; tail > 0; tail--) {
    const size = 64 ** tail;
    // A part that does not fill its block of `tail` bytes is cut off at the block's border.
    if (Math.floor(low / size) === Math.floor(high / size)) continue;
    const above = Math.ceil(low / size) * size;
    if (above > low) return [...split(low, above - 1, more), ...split(above, high, more)];
    const below = Math.floor((high + 1) / size) * size;
    if (below <= high) return [...split(low, below - 1, more), ...split(below, high, more)];
  }
  const from = encoded(low, more);
  const to = encoded(high, more);
  return [from.map((byte, index): Range => [byte, to[index] as number])];
}

function encoded(point: number, more: number): number[] {
  const bytes: number[] = [];
  let rest = point;
  for (let index = 0; index < more; index++) {
    bytes.unshift(0x80 | (rest & 0x3f));
    rest >>= 6;
  }
  bytes.unshift(([0xc0, 0xe0, 0xf0][more - 1] as number) | rest);
  return bytes;
}
