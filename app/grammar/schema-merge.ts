/** Two schemas that must both hold, as one; and the faults that a schema can have, with their place. */
import { HalogenError } from "../error.ts";

export type Schema = Record<string, unknown>;

export function child(place: string, ...keys: (string | number)[]): string {
  return place + keys.map((key) => `/${String(key).replaceAll("~", "~0").replaceAll("/", "~1")}`).join("");
}

function fault(
  code: "grammar.invalid" | "grammar.unsupported" | "grammar.impossible",
  place: string,
  words: string,
  hint: string,
): HalogenError {
  return new HalogenError(code, words, { hint, detail: { pointer: place } });
}

const at = (place: string): string => (place === "" ? "the schema itself" : `"${place}"`);

export function invalid(place: string, what: string): HalogenError {
  return fault("grammar.invalid", place, `This is no JSON Schema: at ${at(place)}, ${what}`, "");
}

export function unsupported(
  place: string,
  what: string,
  hint = "Leave it out, and check the answer for it afterwards.",
): HalogenError {
  return fault("grammar.unsupported", place, `A reply cannot be held to ${what} (at ${at(place)})`, hint);
}

export function impossible(place: string, why: string): HalogenError {
  return fault(
    "grammar.impossible",
    place,
    `Nothing can fit this schema: at ${at(place)}, ${why}`,
    "Correct the schema.",
  );
}

/** Say nothing about which values fit. */
const silent = new Set([
  "title",
  "description",
  "default",
  "examples",
  "deprecated",
  "readOnly",
  "writeOnly",
  "$defs",
  "definitions",
  "contentMediaType",
  "contentEncoding",
  "discriminator",
]);

/** Whether a schema narrows at all what may come. */
export function narrowed(schema: Schema): boolean {
  return Object.keys(schema).some((key) => !silent.has(key) && (!key.startsWith("$") || key === "$ref"));
}

type Resolve = (target: string, from: string) => unknown;

const largest = new Set(["minimum", "exclusiveMinimum", "minLength", "minItems", "minProperties"]);
const smallest = new Set(["maximum", "exclusiveMaximum", "maxLength", "maxItems", "maxProperties"]);

/** Throws grammar.unsupported where both cannot be put together. */
export function merged(one: unknown, other: unknown, place: string, resolve: Resolve, depth = 0): unknown {
  if (depth > 32) throw unsupported(place, "a schema that is part of itself here");
  if (one === false || other === false) return false;
  if (one === true) return other;
  if (other === true) return one;
  if (!isSchema(one) || !isSchema(other)) throw invalid(place, "a schema is an object, true or false");
  const deeper = (a: unknown, b: unknown, where: string): unknown => merged(a, b, where, resolve, depth + 1);
  for (const [part, rest] of [
    [one, other],
    [other, one],
  ] as const) {
    if (typeof part.$ref === "string") {
      const { $ref, ...beside } = part;
      return deeper(deeper(beside, resolve($ref as string, place), place), rest, place);
    }
    if (Array.isArray(part.allOf)) {
      const { allOf, ...beside } = part;
      const whole = (allOf as unknown[]).reduce<unknown>(
        (sum, each, index) => deeper(sum, each, child(place, "allOf", index)),
        beside,
      );
      return deeper(whole, rest, place);
    }
  }
  requireSameMembers(one, other, place);
  const result: Schema = { ...one };
  for (const [key, value] of Object.entries(other)) {
    const known = one[key];
    if (known === undefined || silent.has(key) || key.startsWith("$")) result[key] = value;
    else if (JSON.stringify(known) === JSON.stringify(value)) continue;
    else if (largest.has(key)) result[key] = Math.max(known as number, value as number);
    else if (smallest.has(key)) result[key] = Math.min(known as number, value as number);
    else if (key === "type") result.type = commonTypes(known, value);
    else if (key === "required") result.required = [...new Set([...(known as string[]), ...(value as string[])])];
    else if (key === "enum")
      result.enum = (known as unknown[]).filter((each) =>
        (value as unknown[]).some((entry) => JSON.stringify(entry) === JSON.stringify(each)),
      );
    else if (key === "const") return false;
    else if (key === "items" && !Array.isArray(known) && !Array.isArray(value))
      result.items = deeper(known, value, child(place, "items"));
    else if (key === "additionalProperties") result.additionalProperties = deeper(known, value, child(place, key));
    else if (key === "properties") {
      const together = new Map(Object.entries(known as Schema));
      for (const [name, each] of Object.entries(value as Schema)) {
        const there = together.get(name);
        together.set(name, there === undefined ? each : deeper(there, each, child(place, "properties", name)));
      }
      // A member may be called "__proto__", which no assignment would make one.
      result.properties = Object.fromEntries(together);
    } else if (key === "uniqueItems") result.uniqueItems = true;
    else throw unsupported(child(place, key), `two different "${key}" at once`);
  }
  return result;
}

/** "No others" of one schema forbids members that only the other one names. */
function requireSameMembers(one: Schema, other: Schema, place: string): void {
  const names = (schema: Schema): string[] => Object.keys((schema.properties as Schema | undefined) ?? {});
  for (const [closed, open] of [
    [one, other],
    [other, one],
  ] as const) {
    if (closed.additionalProperties === undefined || closed.additionalProperties === true) continue;
    if (names(open).some((name) => !names(closed).includes(name))) {
      throw unsupported(
        child(place, "additionalProperties"),
        '"additionalProperties" beside members that another part names',
      );
    }
  }
}

function commonTypes(one: unknown, other: unknown): string[] {
  const names = (value: unknown): string[] => (Array.isArray(value) ? value.map(String) : [String(value)]);
  const [left, right] = [names(one), names(other)];
  const both = left.filter((type) => right.includes(type));
  const narrow = (wide: string[], fine: string[]): boolean =>
    wide.includes("number") && fine.includes("integer") && !both.includes("number");
  if (!both.includes("integer") && (narrow(left, right) || narrow(right, left))) both.push("integer");
  return both;
}

function isSchema(value: unknown): value is Schema {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
