/**
 * JSON Schema (2020-12, and the tuples of draft 7) as a grammar. Sound, not complete: what the grammar allows always validates, while members come in
 * the order of the schema and none comes that it does not name, unless it says what others are. What cannot be kept is refused with its place.
 */
import { checkSize, pruned } from "./check.ts";
import {
  choice,
  type Expression,
  empty,
  type Grammar,
  nothing,
  optional,
  repeat,
  rule,
  sequence,
  text,
} from "./expression.ts";
import { comma, counted, jsonRules, member, otherName } from "./json.ts";
import { literal, numberOf, stringOf } from "./scalar.ts";
import { child, impossible, invalid, merged, narrowed, type Schema, unsupported } from "./schema-merge.ts";

const types = ["object", "array", "string", "number", "integer", "boolean", "null"] as const;
type Type = (typeof types)[number];

/** Keywords that would have to be kept and cannot be. */
const refused = [
  "not",
  "if",
  "contains",
  "minContains",
  "dependentRequired",
  "dependentSchemas",
  "dependencies",
  "patternProperties",
  "propertyNames",
  "unevaluatedItems",
  "$dynamicRef",
  "$recursiveRef",
];

const ofType: Readonly<Record<string, Type>> = {
  properties: "object",
  required: "object",
  additionalProperties: "object",
  minProperties: "object",
  maxProperties: "object",
  items: "array",
  prefixItems: "array",
  additionalItems: "array",
  minItems: "array",
  maxItems: "array",
  uniqueItems: "array",
  minLength: "string",
  maxLength: "string",
  pattern: "string",
  format: "string",
  minimum: "number",
  maximum: "number",
  exclusiveMinimum: "number",
  exclusiveMaximum: "number",
  multipleOf: "number",
};

/** As deep as nobody writes, and shallow enough for the stack. */
const deepest = 200;

/** Throws grammar.invalid (no schema at all), grammar.unsupported or grammar.impossible, with `detail.pointer`. */
export function schemaGrammar(schema: unknown): Grammar {
  const rules = new Map<string, Expression>(jsonRules);
  /** By the place of the schema, so that what refers to itself ends. */
  const named = new Map<string, string>();
  const underway = new Set<string>();
  const places = new Map<string, string>();
  let made = 0;

  const addRule = (place: string, make: () => Expression): Expression => {
    const name = `s${made++}`;
    places.set(name, place);
    rules.set(name, empty);
    rules.set(name, make());
    return rule(name);
  };

  /** A rule under a key, so that a schema which comes back to itself ends. */
  const once = (key: string, place: string, find: () => unknown): Expression => {
    const known = named.get(key);
    if (known !== undefined) return rules.get(known) === nothing && !underway.has(known) ? nothing : rule(known);
    const found = find();
    const name = `s${made++}`;
    named.set(key, name);
    places.set(name, place);
    // Until it is known; and where it turns out that nothing can fit, for those that refer to it.
    rules.set(name, nothing);
    underway.add(name);
    try {
      const body = convert(found, place);
      rules.set(name, body);
      return body === nothing ? nothing : rule(name);
    } finally {
      underway.delete(name);
    }
  };

  const referenced = (target: string, from: string): Expression => once(target, target, () => resolve(target, from));

  /** What was put together has no place to be known by, but the same content each time. */
  const joined = (all: unknown, place: string): Expression =>
    typeof all === "object" ? once(JSON.stringify(all), place, () => all) : convert(all, place);

  const resolve = (target: string, from: string): unknown => {
    if (target !== "#" && !target.startsWith("#/"))
      throw unsupported(`${from}/$ref`, `a reference to "${target}": only places in the same schema (#/…)`);
    let found: unknown = schema;
    for (const part of target.split("/").slice(1)) {
      const key = decoded(part, `${from}/$ref`).replaceAll("~1", "/").replaceAll("~0", "~");
      const inside = typeof found === "object" && found !== null && Object.hasOwn(found, key);
      if (!inside) throw invalid(`${from}/$ref`, `there is nothing at "${target}"`);
      found = (found as Record<string, unknown>)[key];
    }
    return found;
  };

  let depth = 0;
  const convert = (value: unknown, place: string): Expression => {
    if (depth >= deepest) throw unsupported(place, `schemas that lie more than ${deepest} deep in one another`);
    depth++;
    try {
      return converted(value, place);
    } finally {
      depth--;
    }
  };

  const converted = (value: unknown, place: string): Expression => {
    if (value === true) return rule("json_value");
    if (value === false) return nothing;
    if (typeof value !== "object" || value === null || Array.isArray(value))
      throw invalid(place, "a schema is an object, true or false");
    const given = value as Schema;
    for (const keyword of refused) {
      if (given[keyword] === undefined || (keyword === "propertyNames" && anyName(given[keyword]))) continue;
      throw unsupported(child(place, keyword), `"${keyword}"`);
    }
    if (given.unevaluatedProperties !== undefined && given.unevaluatedProperties !== false) {
      throw unsupported(child(place, "unevaluatedProperties"), '"unevaluatedProperties" other than false');
    }
    if (typeof given.$ref === "string") {
      const { $ref, ...beside } = given;
      if (!narrowed(beside)) return referenced($ref as string, place);
      return joined(merged(beside, resolve($ref as string, place), place, resolve), place);
    }
    if (given.allOf !== undefined) {
      const { allOf, ...base } = given;
      const parts = list(allOf, child(place, "allOf"));
      const all = parts.reduce<unknown>(
        (sum, part, index) => merged(sum, part, child(place, "allOf", index), resolve),
        base,
      );
      return joined(all, place);
    }
    if (given.anyOf !== undefined) return alternatives(given, "anyOf", place);
    if (given.oneOf !== undefined) return alternatives(given, "oneOf", place);
    return plain(given, place);
  };

  const alternatives = (given: Schema, keyword: "anyOf" | "oneOf", place: string): Expression => {
    const { [keyword]: branches, ...base } = given;
    const parts = list(branches, child(place, keyword));
    if (keyword === "oneOf") requireDisjoint(parts, child(place, keyword));
    const beside = narrowed(base);
    const found = parts.map((part, index): Expression => {
      const at = child(place, keyword, index);
      if (!beside) return convert(part, at);
      try {
        return joined(merged(base, part, at, resolve), at);
      } catch (error) {
        // A branch that what stands beside it rules out is no fault while another is left.
        if ((error as { code?: string }).code === "grammar.impossible") return nothing;
        throw error;
      }
    });
    if (found.every((part) => part === nothing)) throw impossible(place, `no alternative of "${keyword}" can hold`);
    return choice(...found);
  };

  /** One of two that cannot both hold is the same as any of them; more is not known here. */
  const requireDisjoint = (parts: readonly unknown[], place: string): void => {
    const resolved = parts.map((part, index): unknown => {
      const target = (part as Schema | null)?.$ref;
      return typeof target === "string" ? resolve(target, child(place, index)) : part;
    });
    resolved.forEach((one, index) => {
      for (const other of resolved.slice(0, index)) {
        if (!disjoint(one, other)) {
          throw unsupported(
            child(place, index),
            'this alternative of "oneOf", which may hold together with one before it',
            'Use "anyOf", or give each a "const" member or a type of its own.',
          );
        }
      }
    });
  };

  const plain = (given: Schema, place: string): Expression => {
    const wanted = typesOf(given, place);
    if (given.const !== undefined || given.enum !== undefined) {
      const values = given.const !== undefined ? [given.const] : list(given.enum, child(place, "enum"));
      const fits = values.filter(
        (each) =>
          literal.fits(each, given, wanted, place) &&
          (given.const === undefined ||
            given.enum === undefined ||
            (given.enum as unknown[]).some((other) => same(other, each))),
      );
      if (fits.length === 0)
        throw impossible(
          child(place, given.const !== undefined ? "const" : "enum"),
          "no value of it fits what stands beside it",
        );
      return choice(...fits.map((each) => text(JSON.stringify(each))));
    }
    const open = wanted.length === types.length && !Object.keys(given).some((key) => ofType[key] !== undefined);
    if (open) return rule("json_value");
    return choice(...wanted.map((type) => typed(type, given, place)));
  };

  const typed = (type: Type, given: Schema, place: string): Expression => {
    switch (type) {
      case "object":
        return objectOf(given, place);
      case "array":
        return arrayOf(given, place);
      case "string":
        return stringOf(given, place);
      case "number":
      case "integer":
        return numberOf(given, type === "integer", place);
      case "boolean":
        return choice(text("true"), text("false"));
      case "null":
        return text("null");
    }
  };

  const objectOf = (given: Schema, place: string): Expression => {
    const properties = record(given.properties, child(place, "properties"));
    const needed = new Set(strings(given.required, child(place, "required")));
    const free = given.properties === undefined && given.required === undefined;
    const others = given.additionalProperties === undefined ? free : given.additionalProperties;
    const least = count(given.minProperties, child(place, "minProperties")) ?? 0;
    const most = count(given.maxProperties, child(place, "maxProperties"));
    if (most !== null && (least > most || needed.size > most))
      throw impossible(
        child(place, "maxProperties"),
        `${Math.max(least, needed.size)} members are wanted and at most ${most} allowed`,
      );

    let members = Object.entries(properties).map(([name, value]) => ({
      name,
      needed: needed.has(name),
      value: convert(value, child(place, "properties", name)),
      place: child(place, "properties", name),
    }));
    for (const name of needed) {
      if (Object.hasOwn(properties, name)) continue;
      if (given.additionalProperties === false)
        throw impossible(
          child(place, "required"),
          `"${name}" is wanted, but not among the properties, and no others may come`,
        );
      const value = convert(given.additionalProperties ?? true, child(place, "additionalProperties"));
      members.push({ name, needed: true, value, place: child(place, "required") });
    }
    for (const each of members) {
      if (each.needed && each.value === nothing)
        throw impossible(each.place, `"${each.name}" is wanted and can have no value`);
    }
    members = members.filter((each) => each.value !== nothing);
    if (most !== null) {
      for (let index = members.length - 1; index >= 0 && members.length > most; index--)
        if (!members[index]?.needed) members.splice(index, 1);
    }
    let missing = least - members.filter((each) => each.needed).length;
    for (const each of members) {
      if (each.needed || missing <= 0) continue;
      each.needed = true;
      missing--;
    }
    const other = others === false ? nothing : convert(others, child(place, "additionalProperties"));
    // Names of others may come twice, and then count once: more than one of them cannot be promised.
    if (missing > 0 && other === nothing)
      throw impossible(child(place, "minProperties"), `only ${members.length} members can come`);
    if (missing > 1)
      throw unsupported(child(place, "minProperties"), "a least number of members beyond the named ones");
    const extra = other === nothing ? null : member(otherName(members.map(({ name }) => name)), other);
    const room = most === null ? null : most - members.length;

    const rest = (first: boolean): Expression => {
      if (extra === null || room === 0) return empty;
      const needsOne = missing > 0 ? 1 : 0;
      if (first) return counted(extra, needsOne, room) ?? empty;
      return repeat(sequence(comma, extra), needsOne, room);
    };
    let more = addRule(place, () => rest(false));
    let start = addRule(place, () => rest(true));
    for (const each of [...members].reverse()) {
      const written = member(text(JSON.stringify(each.name)), each.value);
      const [moreAfter, startAfter] = [more, start];
      const following = sequence(comma, written, moreAfter);
      const opening = sequence(written, moreAfter);
      more = addRule(each.place, () => (each.needed ? following : choice(following, moreAfter)));
      start = addRule(each.place, () => (each.needed ? opening : choice(opening, startAfter)));
    }
    return sequence(text("{"), rule("json_space"), start, rule("json_space"), text("}"));
  };

  const arrayOf = (given: Schema, place: string): Expression => {
    const tuple = Array.isArray(given.items) ? "items" : "prefixItems";
    const prefix = (given[tuple] === undefined ? [] : list(given[tuple], child(place, tuple))).map((each, index) =>
      convert(each, child(place, tuple, index)),
    );
    const restKeyword = tuple === "items" ? "additionalItems" : "items";
    const least = count(given.minItems, child(place, "minItems")) ?? 0;
    const most = count(given.maxItems, child(place, "maxItems"));
    if (most !== null && least > most)
      throw impossible(child(place, "maxItems"), `at least ${least} and at most ${most} items are wanted`);
    if (given.uniqueItems === true && (most === null || most > 1))
      throw unsupported(child(place, "uniqueItems"), '"uniqueItems"');
    const open = prefix.length === 0 || least > prefix.length;
    const others = given[restKeyword] ?? open;
    const item = others === false ? nothing : convert(others, child(place, restKeyword));
    const dead = prefix.indexOf(nothing);
    const end = Math.min(dead < 0 ? prefix.length : dead, most ?? Number.POSITIVE_INFINITY);
    const closed = item === nothing || end < prefix.length;
    if (least > end && closed)
      throw impossible(child(place, "minItems"), `at least ${least} items are wanted, but only ${end} can come`);

    const from = Math.max(0, least - end);
    const to = most === null ? null : Math.max(0, most - end);
    let rest: Expression =
      closed || to === 0
        ? empty
        : end === 0
          ? (counted(item, from, to) ?? empty)
          : repeat(sequence(comma, item), from, to);
    for (let index = end - 1; index >= 0; index--) {
      const here = sequence(...(index > 0 ? [comma] : []), prefix[index] as Expression, rest);
      rest = index < least ? here : optional(here);
    }
    return sequence(text("["), rule("json_space"), rest, rule("json_space"), text("]"));
  };

  rules.set("root", convert(schema, ""));
  const grammar = pruned({ root: "root", rules }, (name) => ({ pointer: places.get(name) ?? "" }));
  checkSize(grammar);
  return grammar;
}

function typesOf(given: Schema, place: string): Type[] {
  if (given.type === undefined) {
    // What the other keywords speak of is meant; nothing else has to be able to come.
    const spoken = new Set(
      Object.keys(given)
        .map((key) => ofType[key])
        .filter((type) => type !== undefined),
    );
    return spoken.size > 0 && given.enum === undefined && given.const === undefined
      ? types.filter((type) => spoken.has(type))
      : [...types];
  }
  const named = Array.isArray(given.type) ? given.type : [given.type];
  for (const type of named) {
    if (!types.includes(type as Type)) throw invalid(child(place, "type"), `${JSON.stringify(type)} is no type`);
  }
  if (named.length === 0) throw impossible(child(place, "type"), "no type is left");
  return types.filter((type) => named.includes(type));
}

/** That names are texts says nothing; makers of schemas write it all the same. */
function anyName(value: unknown): boolean {
  if (typeof value !== "object" || value === null) return value === true;
  const { type, ...more } = value as Schema;
  return (type === undefined || type === "string") && !narrowed(more);
}

/** A part of a reference, which is part of a URI. */
function decoded(part: string, place: string): string {
  try {
    return decodeURIComponent(part);
  } catch {
    throw invalid(place, `"${part}" is no part of a reference`);
  }
}

function disjoint(one: unknown, other: unknown): boolean {
  if (typeof one !== "object" || typeof other !== "object" || one === null || other === null)
    return one === false || other === false;
  const [a, b] = [one as Schema, other as Schema];
  const values = (schema: Schema): unknown[] | null =>
    schema.const !== undefined ? [schema.const] : Array.isArray(schema.enum) ? schema.enum : null;
  const [left, right] = [values(a), values(b)];
  if (left !== null && right !== null) return left.every((each) => !right.some((value) => same(each, value)));
  const kinds = (schema: Schema): string[] => {
    const named = schema.type === undefined ? types : Array.isArray(schema.type) ? schema.type : [schema.type];
    return named.map((type) => (type === "integer" ? "number" : String(type)));
  };
  if (kinds(a).every((type) => !kinds(b).includes(type))) return true;
  if (a.type !== "object" || b.type !== "object" || !Array.isArray(a.required) || !Array.isArray(b.required))
    return false;
  const shared = (a.required as unknown[]).filter((name) => (b.required as unknown[]).includes(name)) as string[];
  const property = (schema: Schema, name: string): unknown => {
    const members = (schema.properties ?? {}) as Schema;
    return Object.hasOwn(members, name) ? members[name] : undefined;
  };
  return shared.some(
    (name) =>
      property(a, name) !== undefined &&
      property(b, name) !== undefined &&
      disjoint(property(a, name), property(b, name)),
  );
}

function same(one: unknown, other: unknown): boolean {
  return JSON.stringify(one) === JSON.stringify(other);
}

function list(value: unknown, place: string): unknown[] {
  if (!Array.isArray(value) || value.length === 0) throw invalid(place, "a list with at least one entry is expected");
  return value;
}

function strings(value: unknown, place: string): string[] {
  if (value === undefined) return [];
  if (!Array.isArray(value) || value.some((each) => typeof each !== "string"))
    throw invalid(place, "a list of names is expected");
  return value as string[];
}

function record(value: unknown, place: string): Record<string, unknown> {
  if (value === undefined) return {};
  if (typeof value !== "object" || value === null || Array.isArray(value))
    throw invalid(place, "an object is expected");
  return value as Record<string, unknown>;
}

export function count(value: unknown, place: string): number | null {
  if (value === undefined) return null;
  if (typeof value !== "number" || !Number.isInteger(value) || value < 0)
    throw invalid(place, "a whole number, 0 or more, is expected");
  return value;
}
