/**
 * What templates expect of Python's own types, where the Jinja package differs: which characters strip() takes, how a mapping prints, that text
 * which meets marked-up text is escaped. `jinja.ts` puts calls of these into parsed templates, under names that no template has.
 */

/** As str.isspace() has it: U+FEFF is not among them, the separators U+001C to U+001F and U+0085 are. */
const space = "\\t-\\r\\x1c-\\x20\\x85\\xa0\\u1680\\u2000-\\u200a\\u2028\\u2029\\u202f\\u205f\\u3000";
const leading = new RegExp(`^[${space}]+`);
export const blank = new RegExp(`[${space}]`);

/** str.strip, lstrip, rstrip: `side` is both, left or right. */
export function strip(value: unknown, side: unknown, characters?: unknown): string {
  if (typeof value !== "string") throw new Error(`strip() of what is no text: ${pythonText(value)}`);
  let start = 0;
  let end = value.length;
  if (typeof characters === "string") {
    const set = new Set(characters);
    while (side !== "right" && start < end && set.has(characterAt(value, start)))
      start += characterAt(value, start).length;
    while (side !== "left" && end > start && set.has(characterBefore(value, end)))
      end -= characterBefore(value, end).length;
    return value.slice(start, end);
  }
  if (side !== "right") start = leading.exec(value)?.[0].length ?? 0;
  while (side !== "left" && end > start && blank.test(value.charAt(end - 1))) end--;
  return value.slice(start, end);
}

function characterAt(text: string, at: number): string {
  return String.fromCodePoint(text.codePointAt(at) ?? 0);
}

function characterBefore(text: string, end: number): string {
  const low = text.charCodeAt(end - 1);
  return end >= 2 && low >= 0xdc00 && low <= 0xdfff ? text.slice(end - 2, end) : text.charAt(end - 1);
}

/** The `trim` filter, which turns into text first. */
function trim(value: unknown, characters?: unknown): string {
  return strip(pythonText(value), "both", characters);
}

/** str(value); what is undefined prints nothing, nor does a bare None, which the package does not tell from it. */
export function pythonText(value: unknown): string {
  return typeof value === "string" ? value : value === undefined ? "" : represent(value);
}

/** repr(value) of plain values and of the package's own, which hold theirs in `value`. */
function represent(value: unknown): string {
  if (value === null || value === undefined) return "None";
  if (typeof value === "boolean") return value ? "True" : "False";
  if (typeof value === "string") return representText(value);
  if (Array.isArray(value)) return `[${value.map(represent).join(", ")}]`;
  if (value instanceof Map) {
    return `{${[...value].map(([key, each]) => `${represent(key)}: ${represent(each)}`).join(", ")}}`;
  }
  if (typeof value === "function") return "<function>";
  if (typeof value !== "object") return String(value);
  const { type, value: inner } = value as { type?: unknown; value?: unknown };
  // A whole number that is a float prints its point.
  return type === "FloatValue" && Number.isInteger(inner) ? `${String(inner)}.0` : represent(inner);
}

const shortEscapes: Record<string, string> = { "\\": "\\\\", "\n": "\\n", "\r": "\\r", "\t": "\\t" };

function representText(text: string): string {
  const quote = text.includes("'") && !text.includes('"') ? '"' : "'";
  const inner = text.replace(/[\\\n\r\t]|[\p{C}\p{Z}]|'/gu, (character) => {
    if (character === "'") return quote === "'" ? "\\'" : "'";
    if (character === " ") return " ";
    const code = character.codePointAt(0) ?? 0;
    const digits = code < 0x100 ? 2 : code < 0x10000 ? 4 : 8;
    const letter = { 2: "x", 4: "u", 8: "U" }[digits] as string;
    return shortEscapes[character] ?? `\\${letter}${code.toString(16).padStart(digits, "0")}`;
  });
  return `${quote}${inner}${quote}`;
}

function extreme(better: (a: number, b: number) => boolean): (list: unknown) => number {
  return (list) => {
    const numbers = (Array.isArray(list) ? list : []).map((each) =>
      Number((each as { value?: unknown }).value ?? each),
    );
    if (numbers.length === 0) throw new Error("the least or greatest of an empty list");
    return numbers.reduce((a, b) => (better(a, b) ? a : b));
  };
}

const entities: Record<string, string> = { "&": "&amp;", "<": "&lt;", ">": "&gt;", "'": "&#39;", '"': "&#34;" };

/** As markupsafe escapes text that is added to marked-up text (`"…"|safe + text`). */
function escapeText(value: unknown): string {
  return pythonText(value).replace(/[&<>'"]/g, (character) => entities[character] ?? character);
}

/** Python's `"…".format(…)` with plain `{}` and `{0}` fields. */
function formatText(template: unknown, ...values: unknown[]): string {
  let next = 0;
  return String(template).replace(/\{\{|\}\}|\{(\d*)\}/g, (field, index: string | undefined) => {
    if (field === "{{") return "{";
    if (field === "}}") return "}";
    const value = values[index === undefined || index === "" ? next++ : Number(index)];
    if (value === undefined) throw new Error(`format() has no value for ${field}`);
    return pythonText(value);
  });
}

/** To be given to every template. */
export const pythonFunctions: Readonly<Record<string, (...values: unknown[]) => unknown>> = {
  __strip: strip,
  __trim: trim,
  __string: pythonText,
  __min: extreme((a, b) => a <= b),
  __max: extreme((a, b) => a >= b),
  __escape: escapeText,
  __format: formatText,
};
