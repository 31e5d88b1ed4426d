/** Methods of Python's texts that the Jinja package does not have, or has otherwise. */
import { blank, pythonText, strip } from "./python.ts";

/** Those of str.splitlines(). */
const lineEnd = String.fromCharCode(0x0a, 0x0b, 0x0c, 0x0d, 0x1c, 0x1d, 0x1e, 0x85, 0x2028, 0x2029);
const lineEnds = new RegExp(`\r\n|[${lineEnd}]`);

type TextMethod = (text: string, ...told: unknown[]) => unknown;

/** Methods of texts that the package does not have, or has otherwise. */
const textMethods: Readonly<Record<string, TextMethod>> = {
  find: (text, part) => text.indexOf(String(part)),
  rfind: (text, part) => text.lastIndexOf(String(part)),
  index: (text, part) => found(text.indexOf(String(part))),
  rindex: (text, part) => found(text.lastIndexOf(String(part))),
  count: (text, part) => (part === "" ? Array.from(text).length + 1 : text.split(String(part)).length - 1),
  split: (text, ...told) => splitFromLeft(text, ...splitWords(told)),
  rsplit: (text, ...told) => splitFromRight(text, ...splitWords(told)),
  splitlines: (text) => {
    const lines = text.split(lineEnds);
    if (lines[lines.length - 1] === "") lines.pop();
    return lines;
  },
  join: (text, list) => {
    const parts = typeof list === "string" ? Array.from(list) : Array.isArray(list) ? list : null;
    if (parts === null) throw new Error(`join() of what is no list: ${pythonText(list)}`);
    return parts.map(plain).join(text);
  },
  removeprefix: (text, part) => (text.startsWith(String(part)) ? text.slice(String(part).length) : text),
  removesuffix: (text, part) =>
    part !== "" && text.endsWith(String(part)) ? text.slice(0, -String(part).length) : text,
  capitalize: (text) => {
    const [first = ""] = text;
    return first.toUpperCase() + text.slice(first.length).toLowerCase();
  },
  isdigit: (text) => /^\p{Nd}+$/u.test(text),
  isalpha: (text) => /^\p{L}+$/u.test(text),
  isalnum: (text) => /^[\p{L}\p{N}]+$/u.test(text),
  isspace: (text) => text !== "" && strip(text, "both") === "",
  isupper: (text) => /\p{Lu}/u.test(text) && text === text.toUpperCase(),
  islower: (text) => /\p{Ll}/u.test(text) && text === text.toLowerCase(),
};
export const textMethodNames: readonly string[] = Object.keys(textMethods);

/** The package gives items of lists as its own values. */
function plain(item: unknown): unknown {
  return typeof item === "object" && item !== null ? (item as { value?: unknown }).value : item;
}

function found(at: number): number {
  if (at < 0) throw new Error("the text that index() looks for is not there");
  return at;
}

/** The separator, null for white space, and how often it parts at most; each may be given by its name. */
function splitWords(told: readonly unknown[]): [string | null, number] {
  const named = told.find((each): each is Map<string, unknown> => each instanceof Map);
  const placed = told.filter((each) => !(each instanceof Map));
  const [separator = plain(named?.get("sep")), most = plain(named?.get("maxsplit"))] = placed;
  if (separator === "") throw new Error("split() by an empty text");
  return [
    typeof separator === "string" ? separator : null,
    typeof most === "number" && most >= 0 ? most : Number.POSITIVE_INFINITY,
  ];
}

function splitFromLeft(text: string, separator: string | null, times: number): string[] {
  if (separator !== null) {
    const parts = text.split(separator);
    return parts.length <= times + 1 ? parts : [...parts.slice(0, times), parts.slice(times).join(separator)];
  }
  const parts: string[] = [];
  let rest = strip(text, "left");
  while (rest !== "" && parts.length < times) {
    const at = rest.search(blank);
    if (at < 0) break;
    parts.push(rest.slice(0, at));
    rest = strip(rest.slice(at), "left");
  }
  return rest === "" ? parts : [...parts, rest];
}

function splitFromRight(text: string, separator: string | null, times: number): string[] {
  const parts: string[] = [];
  if (separator !== null) {
    let rest = text;
    for (let at = rest.lastIndexOf(separator); at >= 0 && parts.length < times; at = rest.lastIndexOf(separator)) {
      parts.push(rest.slice(at + separator.length));
      rest = rest.slice(0, at);
    }
    return [rest, ...parts.reverse()];
  }
  let rest = strip(text, "right");
  while (rest !== "" && parts.length < times) {
    let at = rest.length;
    while (at > 0 && !blank.test(rest.charAt(at - 1))) at--;
    if (at === 0) break;
    parts.push(rest.slice(at));
    rest = strip(rest.slice(0, at), "right");
  }
  return rest === "" ? parts.reverse() : [rest, ...parts.reverse()];
}

/** A method of `value`, by its name. Of lists there are two of the same names. */
function callMethod(value: unknown, name: unknown, ...told: unknown[]): unknown {
  const method = textMethods[String(name)];
  if (typeof value === "string" && method !== undefined) return method(value, ...told);
  if (Array.isArray(value) && name === "count") return value.filter((each) => plain(each) === told[0]).length;
  if (Array.isArray(value) && name === "index") return found(value.findIndex((each) => plain(each) === told[0]));
  throw new Error(`there is no ${String(name)}() of ${pythonText(value)}`);
}

/** To be given to every template. */
export const textFunctions: Readonly<Record<string, (...values: unknown[]) => unknown>> = {
  __method: callMethod,
  __capitalize: (value) => callMethod(pythonText(value), "capitalize"),
};
