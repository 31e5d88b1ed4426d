/** Regular expressions (the syntax of JavaScript's `u` flag, as JSON Schema has it) as expressions. */
import { HalogenError } from "../error.ts";
import {
  characters,
  choice,
  type Expression,
  inverted,
  largestPoint,
  type Range,
  repeat,
  sequence,
  text,
} from "./expression.ts";

export interface RegexAlternative {
  /** Whether it begins with ^, ends with $. */
  fromStart: boolean;
  toEnd: boolean;
  body: Expression;
}

const digits: Range[] = [[0x30, 0x39]];
const wordParts: Range[] = [
  [0x30, 0x39],
  [0x41, 0x5a],
  [0x5f, 0x5f],
  [0x61, 0x7a],
];
/** White space and line ends of ECMAScript. */
const spaces: Range[] = [
  [0x09, 0x0d],
  [0x20, 0x20],
  [0xa0, 0xa0],
  [0x1680, 0x1680],
  [0x2000, 0x200a],
  [0x2028, 0x2029],
  [0x202f, 0x202f],
  [0x205f, 0x205f],
  [0x3000, 0x3000],
  [0xfeff, 0xfeff],
];
const lineEnds: Range[] = [
  [0x0a, 0x0a],
  [0x0d, 0x0d],
  [0x2028, 0x2029],
];
const controls: Readonly<Record<string, number>> = { t: 9, n: 10, v: 11, f: 12, r: 13, "0": 0 };
const largestCount = 10_000;
const deepestGroup = 200;

/** The alternatives of the outermost level. Throws grammar.invalid or grammar.unsupported with the position of the fault. */
export function parseRegex(source: string): RegexAlternative[] {
  const letters = [...source];
  let at = 0;

  const peek = (ahead = 0): string => letters[at + ahead] ?? "";
  const take = (): string => letters[at++] ?? "";
  const fault = (code: "grammar.invalid" | "grammar.unsupported", message: string, position = at): HalogenError =>
    new HalogenError(code, `Regular expression, character ${position + 1}: ${message}`, {
      hint: code === "grammar.unsupported" ? "Write it without." : "",
      detail: { position, expression: source.slice(0, 200) },
    });

  const hexNumber = (length: number, begin: number): number => {
    const spelled = letters.slice(at, at + length).join("");
    if (!/^[0-9a-fA-F]+$/.test(spelled) || spelled.length !== length)
      throw fault("grammar.invalid", `${length} hexadecimal digits are missing`, begin);
    at += length;
    return Number.parseInt(spelled, 16);
  };

  /** Behind a backslash: a set, or one character. */
  const escaped = (begin: number, inClass: boolean): Range[] => {
    const letter = take();
    if (letter === "") throw fault("grammar.invalid", "nothing follows the backslash", begin);
    if (letter === "d") return digits;
    if (letter === "D") return inverted(digits);
    if (letter === "w") return wordParts;
    if (letter === "W") return inverted(wordParts);
    if (letter === "s") return spaces;
    if (letter === "S") return inverted(spaces);
    if (letter === "b" && inClass) return [[8, 8]];
    if (letter === "b" || letter === "B") throw fault("grammar.unsupported", "word borders are not supported", begin);
    if (letter === "p" || letter === "P")
      throw fault("grammar.unsupported", "Unicode properties are not supported", begin);
    if (letter === "k" || /[1-9]/.test(letter))
      throw fault("grammar.unsupported", "back references are not supported", begin);
    if (letter === "x") return single(hexNumber(2, begin));
    if (letter === "c") {
      const control = take();
      if (!/^[a-zA-Z]$/.test(control)) throw fault("grammar.invalid", "a letter is missing behind \\c", begin);
      return single((control.codePointAt(0) as number) % 32);
    }
    if (letter === "u") {
      if (peek() !== "{") {
        const first = hexNumber(4, begin);
        const pair = first >= 0xd800 && first <= 0xdbff && peek() === "\\" && peek(1) === "u";
        if (!pair) return single(first);
        at += 2;
        return single(0x10000 + (first - 0xd800) * 0x400 + (hexNumber(4, begin) - 0xdc00));
      }
      const end = letters.indexOf("}", at);
      const point = Number.parseInt(letters.slice(at + 1, end).join(""), 16);
      if (end < 0 || !(point <= largestPoint)) throw fault("grammar.invalid", "this is no character", begin);
      at = end + 1;
      return single(point);
    }
    const control = controls[letter];
    if (control !== undefined) return single(control);
    if (/[A-Za-z0-9]/.test(letter)) throw fault("grammar.invalid", `\\${letter} means nothing`, begin);
    return single(letter.codePointAt(0) as number);
  };

  const characterClass = (begin: number): Expression => {
    const negated = peek() === "^";
    if (negated) at++;
    const ranges: Range[] = [];
    /** One member; the code point of a single character, else null. */
    const member = (): { set: Range[]; point: number | null } => {
      const place = at;
      const letter = take();
      if (letter === "") throw fault("grammar.invalid", "this class is not closed", begin);
      const set = letter === "\\" ? escaped(place, true) : single(letter.codePointAt(0) as number);
      const [only, more] = set;
      return { set, point: only !== undefined && more === undefined && only[0] === only[1] ? only[0] : null };
    };
    while (peek() !== "]") {
      const place = at;
      const first = member();
      if (peek() !== "-" || peek(1) === "]" || peek(1) === "") {
        ranges.push(...first.set);
        continue;
      }
      at++;
      const last = member();
      if (first.point === null || last.point === null)
        throw fault("grammar.invalid", "a range needs a character at both ends", place);
      if (first.point > last.point) throw fault("grammar.invalid", "this range runs backwards", place);
      ranges.push([first.point, last.point]);
    }
    at++;
    return negated ? { kind: "class", ranges: inverted(ranges) } : characters(...ranges);
  };

  let depth = 0;
  const group = (begin: number): Expression => {
    if (depth >= deepestGroup)
      throw fault("grammar.unsupported", `groups more than ${deepestGroup} deep are not supported`, begin);
    depth++;
    if (peek() === "?") {
      at++;
      const kind = take();
      if (kind === "<" && peek() !== "=" && peek() !== "!") {
        const end = letters.indexOf(">", at);
        if (end < 0) throw fault("grammar.invalid", "the group's name is not closed", begin);
        at = end + 1;
      } else if (kind === "=" || kind === "!" || kind === "<") {
        throw fault("grammar.unsupported", "looking ahead or back is not supported", begin);
      } else if (kind !== ":") throw fault("grammar.invalid", "this kind of group is not known", begin);
    }
    const alternatives = alternation(false);
    if (peek() !== ")") throw fault("grammar.invalid", "this group is not closed", begin);
    at++;
    depth--;
    return choice(...alternatives.map(({ body }) => body));
  };

  const atom = (): Expression => {
    const begin = at;
    const letter = take();
    if (letter === "(") return group(begin);
    if (letter === "[") return characterClass(begin);
    if (letter === ".") return { kind: "class", ranges: inverted(lineEnds) };
    if (letter === "\\") return characters(...escaped(begin, false));
    if (letter === "*" || letter === "+" || letter === "?")
      throw fault("grammar.invalid", "there is nothing to repeat", begin);
    if (letter === "^" || letter === "$")
      throw fault("grammar.unsupported", "^ and $ are supported only at the ends of the whole", begin);
    if (letter === "{" || letter === "}" || letter === "]")
      throw fault("grammar.invalid", `"${letter}" needs a backslash here`, begin);
    return text(letter);
  };

  const quantified = (): Expression => {
    const part = atom();
    const begin = at;
    let least = 1;
    let most: number | null = 1;
    if (peek() === "*" || peek() === "+" || peek() === "?") {
      const sign = take();
      least = sign === "+" ? 1 : 0;
      most = sign === "?" ? 1 : null;
    } else if (peek() === "{") {
      const [spelled, low, comma, high] = /^\{(\d+)(,?)(\d*)\}/.exec(letters.slice(at, at + 24).join("")) ?? [];
      if (spelled === undefined) throw fault("grammar.invalid", "a count like {2,5} is expected", begin);
      at += spelled.length;
      least = Number(low);
      most = high !== "" && high !== undefined ? Number(high) : comma === "" ? least : null;
      if (most !== null && most < least) throw fault("grammar.invalid", `${least} is more than ${most}`, begin);
      if (Math.max(least, most ?? 0) > largestCount)
        throw fault("grammar.unsupported", `counts above ${largestCount} are not supported`, begin);
    } else return part;
    if (peek() === "?") at++; // lazy: the same texts match
    return repeat(part, least, most);
  };

  const alternation = (outermost: boolean): RegexAlternative[] => {
    const alternatives: RegexAlternative[] = [];
    for (;;) {
      const parts: Expression[] = [];
      const fromStart = outermost && peek() === "^";
      if (fromStart) at++;
      let toEnd = false;
      while (peek() !== "" && peek() !== "|" && peek() !== ")") {
        if (outermost && peek() === "$" && (peek(1) === "" || peek(1) === "|")) {
          toEnd = true;
          at++;
          break;
        }
        parts.push(quantified());
      }
      alternatives.push({ fromStart, toEnd, body: sequence(...parts) });
      if (peek() !== "|") return alternatives;
      at++;
    }
  };

  const alternatives = alternation(true);
  if (at < letters.length) throw fault("grammar.invalid", "this bracket closes nothing");
  return alternatives;
}

function single(point: number): Range[] {
  return [[point, point]];
}
