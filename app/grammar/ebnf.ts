/**
 * EBNF as people write it for constrained generation: `name ::= alternatives`, "text" or 'text', [classes], ( ), * + ? {2,5}, # comments. A rule ends
 * where the next one begins. The first rule, or the one named "root", is the whole.
 */
import { HalogenError } from "../error.ts";
import { canBeEmpty, nullableRules } from "./check.ts";
import {
  characters,
  choice,
  type Expression,
  type Grammar,
  inverted,
  largestPoint,
  type Range,
  repeat,
  rule,
  sequence,
  text,
} from "./expression.ts";

const escapes: Readonly<Record<string, string>> = { n: "\n", r: "\r", t: "\t", "0": "\0" };
const largestCount = 10_000;

const deepestGroup = 200;

/** Throws grammar.invalid with line and column. */
export function parseEbnf(source: string): Grammar {
  const letters = [...source];
  let at = 0;
  const rules = new Map<string, Expression>();
  const places = new Map<string, number>();
  const uses: { name: string; place: number }[] = [];

  let depth = 0;
  const fault = (message: string, place = at): HalogenError => {
    const before = letters.slice(0, place).join("").split("\n");
    const line = before.length;
    const column = [...(before[line - 1] ?? "")].length + 1;
    return new HalogenError("grammar.invalid", `Grammar, line ${line}, column ${column}: ${message}`, {
      hint: 'A rule looks like this: answer ::= "yes" | "no"',
      detail: { line, column, position: place },
    });
  };
  const peek = (ahead = 0): string => letters[at + ahead] ?? "";

  const skip = (): void => {
    for (;;) {
      if (/^\s$/.test(peek())) at++;
      else if (peek() === "#") while (at < letters.length && peek() !== "\n") at++;
      else return;
    }
  };

  const name = (): string => {
    let found = "";
    while (/^[A-Za-z0-9_-]$/.test(peek())) found += letters[at++];
    return found;
  };

  /** A name with ::= behind it begins the next rule. */
  const startsRule = (): boolean => {
    const begin = at;
    const found = name();
    skip();
    const starts = found !== "" && peek() === ":" && peek(1) === ":" && peek(2) === "=";
    at = begin;
    return starts;
  };

  const escaped = (begin: number): string => {
    const letter = letters[at++];
    if (letter === undefined) throw fault("nothing follows the backslash", begin);
    const length = { x: 2, u: 4, U: 8 }[letter];
    if (length === undefined) return escapes[letter] ?? letter;
    const spelled = letters.slice(at, at + length).join("");
    const point =
      /^[0-9a-fA-F]+$/.test(spelled) && spelled.length === length ? Number.parseInt(spelled, 16) : Number.NaN;
    if (!(point <= largestPoint) || (point >= 0xd800 && point <= 0xdfff))
      throw fault(`\\${letter} needs ${length} digits of a character`, begin);
    at += length;
    return String.fromCodePoint(point);
  };

  const quoted = (mark: string): Expression => {
    const begin = at++;
    let value = "";
    while (peek() !== mark) {
      const place = at;
      const letter = letters[at++];
      if (letter === undefined || letter === "\n") throw fault("this text is not closed", begin);
      value += letter === "\\" ? escaped(place) : letter;
    }
    at++;
    return text(value);
  };

  const characterClass = (): Expression => {
    const begin = at++;
    const negated = peek() === "^";
    if (negated) at++;
    const ranges: Range[] = [];
    const one = (): number => {
      const place = at;
      const letter = letters[at++];
      if (letter === undefined || letter === "\n") throw fault("this class is not closed", begin);
      return (letter === "\\" ? escaped(place) : letter).codePointAt(0) as number;
    };
    while (peek() !== "]") {
      const place = at;
      const from = one();
      let to = from;
      if (peek() === "-" && peek(1) !== "]") {
        at++;
        to = one();
      }
      if (from > to) throw fault("this range runs backwards", place);
      ranges.push([from, to]);
    }
    at++;
    return negated ? { kind: "class", ranges: inverted(ranges) } : characters(...ranges);
  };

  const element = (): Expression => {
    const begin = at;
    const letter = peek();
    if (letter === '"' || letter === "'") return quoted(letter);
    if (letter === "[") return characterClass();
    if (letter === ".") {
      at++;
      return characters([0, largestPoint]);
    }
    if (letter === "(") {
      if (depth >= deepestGroup) throw fault(`brackets more than ${deepestGroup} deep are not read`, begin);
      depth++;
      at++;
      const inner = alternatives();
      if (peek() !== ")") throw fault("this bracket is not closed", begin);
      at++;
      depth--;
      return inner;
    }
    const found = name();
    if (found === "")
      throw fault(letter === "" ? "something is missing at the end" : `"${letter}" is not expected here`);
    uses.push({ name: found, place: begin });
    return rule(found);
  };

  const counted = (part: Expression): Expression => {
    const begin = at;
    const sign = peek();
    if (sign === "*" || sign === "+" || sign === "?") {
      at++;
      return counted(repeat(part, sign === "+" ? 1 : 0, sign === "?" ? 1 : null));
    }
    if (sign !== "{") return part;
    const [spelled, low, comma, high] =
      /^\{\s*(\d+)\s*(,?)\s*(\d*)\s*\}/.exec(letters.slice(at, at + 40).join("")) ?? [];
    if (spelled === undefined) throw fault("a count like {2,5} is expected", begin);
    at += spelled.length;
    const least = Number(low);
    const most = high !== "" && high !== undefined ? Number(high) : comma === "" ? least : null;
    if (most !== null && most < least) throw fault(`${least} is more than ${most}`, begin);
    if (Math.max(least, most ?? 0) > largestCount) throw fault(`counts go up to ${largestCount}`, begin);
    return counted(repeat(part, least, most));
  };

  const alternatives = (): Expression => {
    const found: Expression[] = [];
    for (;;) {
      const parts: Expression[] = [];
      skip();
      while (at < letters.length && peek() !== "|" && peek() !== ")" && !startsRule()) {
        parts.push(counted(element()));
        skip();
      }
      if (parts.length === 0) throw fault('an alternative is empty; write "" for it');
      found.push(sequence(...parts));
      if (peek() !== "|") return choice(...found);
      at++;
    }
  };

  for (skip(); at < letters.length; skip()) {
    const begin = at;
    if (!startsRule()) throw fault("a rule is expected here: name ::= …");
    const found = name();
    if (rules.has(found)) throw fault(`the rule "${found}" is there already`, begin);
    skip();
    at += 3;
    places.set(found, begin);
    rules.set(found, alternatives());
    if (peek() === ")") throw fault("this bracket closes nothing");
  }
  const [first] = rules.keys();
  if (first === undefined) throw fault("there is no rule");
  for (const use of uses) {
    if (!rules.has(use.name)) throw fault(`there is no rule "${use.name}"`, use.place);
  }
  const recursive = leftRecursive(rules);
  if (recursive !== null) {
    throw fault(`the rule "${recursive}" begins with itself; write it with * or +`, places.get(recursive));
  }
  return { root: rules.has("root") ? "root" : first, rules };
}

/** A rule that can call itself without having read anything. */
function leftRecursive(rules: ReadonlyMap<string, Expression>): string | null {
  const nullable = nullableRules({ root: "", rules });
  const firsts = (part: Expression): string[] => {
    if (part.kind === "rule") return [part.name];
    if (part.kind === "repeat") return firsts(part.part);
    if (part.kind === "choice") return part.parts.flatMap(firsts);
    if (part.kind !== "sequence") return [];
    const end = part.parts.findIndex((each) => !canBeEmpty(each, nullable));
    return part.parts.slice(0, end < 0 ? undefined : end + 1).flatMap(firsts);
  };
  for (const name of rules.keys()) {
    const seen = new Set<string>();
    const pending = firsts(rules.get(name) as Expression);
    for (let next = pending.pop(); next !== undefined; next = pending.pop()) {
      if (next === name) return name;
      if (seen.has(next)) continue;
      seen.add(next);
      pending.push(...firsts(rules.get(next) as Expression));
    }
  }
  return null;
}
