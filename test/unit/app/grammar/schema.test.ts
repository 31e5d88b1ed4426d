/** What the grammar of a schema allows validates by ajv, and what cannot be kept is refused with its place. */
import { Ajv } from "ajv";
import { Ajv2020 } from "ajv/dist/2020.js";
import addFormats from "ajv-formats";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { HalogenError } from "../../../../app/error.ts";
import { readGrammar } from "../../../../app/grammar/grammar.ts";
import { randomText, reader } from "../../../fixtures/grammar-text.ts";

/** Of test/seed.ts. */
const seed = fc.readConfigureGlobal()?.seed ?? Date.now();

function generator(start: number): () => number {
  let state = start >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let value = Math.imul(state ^ (state >>> 15), state | 1);
    value ^= value + Math.imul(value ^ (value >>> 7), value | 61);
    return ((value ^ (value >>> 14)) >>> 0) / 2 ** 32;
  };
}

const grammarOf = (schema: unknown) => readGrammar({ kind: "json_schema", source: JSON.stringify(schema) });
/** Whether the grammar allows this text. */
function allows(schema: unknown, text: string): boolean {
  let state = reader(grammarOf(schema));
  for (const letter of text) state = state.after(letter);
  return state.done;
}

const person = {
  type: "object",
  properties: {
    name: { type: "string", minLength: 1, maxLength: 20 },
    age: { type: "integer", minimum: 0, maximum: 150 },
    email: { type: "string", format: "email" },
    tags: { type: "array", items: { enum: ["a", "b", 3, null, { x: 1 }] }, minItems: 1, maxItems: 3 },
  },
  required: ["name", "tags"],
  additionalProperties: false,
};

const schemas: Record<string, unknown> = {
  anything: true,
  "any object": { type: "object" },
  person,
  "all types at once": { type: ["string", "integer", "null", "boolean"], minLength: 2, minimum: -5 },
  "const and enum": {
    anyOf: [
      { const: 'x\n"y\\' },
      { enum: [1.5, -2, true, [1, "a"]] },
      { type: "integer", enum: [1, 2.5, 7], maximum: 5 },
    ],
  },
  "itself, put together with what stands beside": {
    $ref: "#/$defs/node",
    $defs: {
      node: {
        type: "object",
        properties: {
          value: { type: "integer" },
          next: { title: "Next", allOf: [{ $ref: "#/$defs/node" }] },
          others: { type: "array", items: { $ref: "#/$defs/node", type: "object" }, maxItems: 2 },
          either: { type: ["object", "null"], anyOf: [{ $ref: "#/$defs/node" }, { type: "null" }, { type: "string" }] },
        },
        required: ["value"],
      },
    },
  },
  "a map with names that say nothing": {
    type: "object",
    propertyNames: { type: "string", description: "any" },
    additionalProperties: { type: "boolean" },
  },
  "integers in bounds": {
    type: "array",
    items: { type: "integer", minimum: -1234, maximum: 98765 },
    minItems: 20,
    maxItems: 20,
  },
  "integers above": { type: "integer", exclusiveMinimum: 99 },
  "integers below": { type: "integer", exclusiveMaximum: -7.5 },
  "numbers in bounds": {
    type: "array",
    items: { type: "number", minimum: -0.75, maximum: 12.5 },
    minItems: 20,
    maxItems: 20,
  },
  "numbers strictly between": {
    type: "array",
    items: { type: "number", exclusiveMinimum: 0, exclusiveMaximum: 1e-3 },
    minItems: 10,
    maxItems: 10,
  },
  "numbers above": { type: "number", minimum: 1e6 },
  "unbounded numbers": { type: "array", items: { type: "number" }, minItems: 10 },
  pattern: { type: "string", pattern: '^[A-Z]{2}-\\d{3,4}(\\.[^"a-z]|\\\\\\s)?$' },
  "pattern anywhere": { type: "string", pattern: "ab+c|^x" },
  "pattern with a length it keeps": { type: "string", pattern: "^.{2,8}$", minLength: 2, maxLength: 9 },
  lengths: { type: "array", items: { type: "string", minLength: 3, maxLength: 5 }, minItems: 8, maxItems: 8 },
  formats: {
    type: "object",
    properties: Object.fromEntries(
      ["date", "time", "date-time", "uuid", "ipv4", "hostname", "email", "uri"].map((format) => [
        format,
        { type: "string", format },
      ]),
    ),
    required: ["date", "time", "date-time", "uuid", "ipv4", "hostname", "email", "uri"],
  },
  tuple: {
    type: "array",
    prefixItems: [{ type: "string" }, { type: "integer" }],
    items: { type: "boolean" },
    minItems: 1,
    maxItems: 5,
  },
  "closed tuple": { type: "array", prefixItems: [{ const: 1 }, { const: 2 }], items: false },
  "members of any name": {
    type: "object",
    properties: { ab: { type: "integer" }, a: { type: "null" } },
    additionalProperties: { type: "string" },
    required: ["a"],
  },
  "a map": { type: "object", additionalProperties: { type: "integer" }, minProperties: 1, maxProperties: 4 },
  "least and most members": {
    type: "object",
    properties: { a: true, b: { type: "null" }, c: { type: "null" }, d: { type: "null" } },
    minProperties: 2,
    maxProperties: 3,
  },
  "a wanted member that is not described": { type: "object", properties: { a: { type: "null" } }, required: ["b"] },
  "a list of itself": {
    $defs: {
      node: {
        type: "object",
        properties: { value: { type: "integer" }, next: { anyOf: [{ $ref: "#/$defs/node" }, { type: "null" }] } },
        required: ["value", "next"],
      },
    },
    $ref: "#/$defs/node",
  },
  "a tree": {
    type: "object",
    properties: { children: { type: "array", items: { $ref: "#" } } },
    required: ["children"],
    additionalProperties: false,
  },
  "a reference with an escaped name": {
    $defs: { "a/b~c": { type: "boolean" } },
    type: "array",
    items: { $ref: "#/$defs/a~1b~0c" },
    minItems: 1,
  },
  allOf: {
    allOf: [
      { $ref: "#/$defs/base" },
      { type: "object", properties: { b: { type: "integer", maximum: 9 }, a: { minLength: 3 } }, required: ["b"] },
    ],
    $defs: { base: { type: "object", properties: { a: { type: "string", maxLength: 6 } }, required: ["a"] } },
  },
  "anyOf with neighbours": {
    type: "object",
    properties: { kind: { type: "string" } },
    required: ["kind"],
    anyOf: [
      { properties: { kind: { const: "a" }, x: { type: "integer" } }, required: ["x"] },
      { properties: { kind: { const: "b" } } },
    ],
  },
  "oneOf by type": { oneOf: [{ type: "string" }, { type: "number" }, { type: "array", items: { type: "null" } }] },
  "oneOf by a member": {
    oneOf: [
      { type: "object", properties: { t: { const: "a" } }, required: ["t"] },
      { type: "object", properties: { t: { const: "b" }, n: { type: "integer" } }, required: ["t", "n"] },
    ],
  },
  "a member that can have no value": { type: "object", properties: { never: false, ever: { type: "null" } } },
  "integers among numbers": { allOf: [{ type: ["number", "string"] }, { type: "integer" }, { minimum: 3 }] },
  "draft 7 tuple": {
    type: "array",
    items: [{ type: "string" }, { type: "null" }],
    additionalItems: { type: "integer" },
    minItems: 3,
  },
};

describe("what a schema's grammar allows", () => {
  test("members with the names of JavaScript's own stay members where parts are put together", () => {
    const member = (name: string, type: string): unknown =>
      JSON.parse(`{"properties": {"${name}": {"type": "${type}"}}}`);
    for (const name of ["__proto__", "constructor", "toString"]) {
      const schema = { type: "object", allOf: [member("a", "null"), member(name, "integer")], required: [name] };
      expect([name, allows(schema, `{"${name}": 5}`)]).toEqual([name, true]);
      expect([name, allows(schema, `{"${name}": "5"}`)]).toEqual([name, false]);
      const one = { type: "object", ...(member(name, "integer") as object), required: [name] };
      const other = { type: "object", properties: { a: { type: "null" } }, required: [name, "a"] };
      expect(() => allows({ oneOf: [one, other] }, "{}")).toThrow(/oneOf/);
    }
  });

  test.each(Object.entries(schemas))("validates: %s", (name, schema) => {
    const Validator = name === "draft 7 tuple" ? Ajv : Ajv2020;
    const ajv = addFormats.default(new Validator({ strict: false, allErrors: true }));
    const validate = ajv.compile(schema as object);
    const grammar = grammarOf(schema);
    const random = generator(seed);
    const seen = new Set<string>();
    for (let round = 0; round < 300; round++) {
      const text = randomText(grammar, random);
      const value: unknown = JSON.parse(text);
      if (!validate(value)) throw new Error(`${text}: ${ajv.errorsText(validate.errors)}`);
      seen.add(text);
    }
    if (!/closed tuple|no value/.test(name)) expect(seen.size).toBeGreaterThan(3);
  });

  test("and it is not less than one would expect", () => {
    const yes: [unknown, string][] = [
      [person, '{"name": "Zoë 😀", "age": 150, "tags": ["a", 3]}'],
      [person, '{\n  "name": "x",\n  "tags": [\n    null\n  ]\n}'],
      [person, '{"name":"\\u00e9\\n","tags":[{"x":1}]}'],
      [{ type: "integer", minimum: -3, maximum: 12 }, "-3"],
      [{ type: "integer", minimum: -3, maximum: 12 }, "12"],
      [{ type: "number", minimum: 0.5, maximum: 2.5 }, "0.5"],
      [{ type: "number", minimum: 0.5, maximum: 2.5 }, "2.5"],
      [{ type: "number", minimum: 0.5, maximum: 2.5 }, "1.0625"],
      [{ type: "number" }, "-1.5e-7"],
      [{ type: "string", pattern: "b" }, '"abc"'],
      [true, '[{"a":{"b":[]}}]'],
      [schemas.tuple, '["x", 1, true]'],
      [schemas["members of any name"], '{"a": null, "abc": "x", "b": ""}'],
    ];
    for (const [schema, text] of yes) expect([text, allows(schema, text)]).toEqual([text, true]);
    const no: [unknown, string][] = [
      [person, '{"tags": ["a"], "name": "x"}'],
      [person, '{"name": "x", "tags": ["a"], "more": 1}'],
      [person, '{"name": "", "tags": ["a"]}'],
      [person, '{"name": "x", "age": 151, "tags": ["a"]}'],
      [{ type: "number", minimum: 0.5, maximum: 2.5 }, "0x5"],
      [{ type: "number", minimum: 0.5, maximum: 2.5 }, "2.51"],
      [{ type: "integer" }, "01"],
      [{ type: "integer" }, "-0"],
      [{ type: "string" }, '"\\ud800"'],
      [schemas["members of any name"], '{"a": null, "ab": "x"}'],
    ];
    for (const [schema, text] of no) expect([text, allows(schema, text)]).toEqual([text, false]);
  });

  test("lengths are counted in characters, however they are written, as a validator counts them", () => {
    // Each is one character: plain, beyond ASCII, beyond U+FFFF, by name, by number, and a pair of numbers.
    const written = ["a", "é", "日", "😀", "\\n", '\\"', "\\\\", "\\u00e9", "\\uD83d\\uDE00", "\u0301"];
    const ajv = new Ajv2020();
    const random = generator(seed + 2);
    for (let round = 0; round < 400; round++) {
      const least = Math.floor(random() * 5);
      const schema = { type: "string", minLength: least, maxLength: least + Math.floor(random() * 5) };
      const validate = ajv.compile(schema);
      const count = Math.floor(random() * 12);
      const body = Array.from({ length: count }, () => written[Math.floor(random() * written.length)]).join("");
      const text = `"${body}"`;
      expect([schema, text, allows(schema, text)]).toEqual([schema, text, validate(JSON.parse(text))]);
    }
    for (const half of ['"\\ud83d"', '"\\ude00"', '"\\ude00\\ud83d"', '"\\ud83d\\n"', '"\\ud83dx"']) {
      expect([half, allows({ type: "string" }, half)]).toEqual([half, false]);
    }
  });

  test("every whole number within bounds, and none outside", () => {
    const random = generator(seed + 1);
    for (let round = 0; round < 40; round++) {
      const low = Math.floor(random() * 400 - 200);
      const high = low + Math.floor(random() * 250);
      const begin = reader(grammarOf({ type: "integer", minimum: low, maximum: high }));
      for (let value = low - 12; value <= high + 12; value++) {
        let state = begin;
        for (const letter of String(value)) state = state.after(letter);
        expect([low, high, value, state.done]).toEqual([low, high, value, value >= low && value <= high]);
      }
    }
  });
});

function refusal(schema: unknown): HalogenError {
  try {
    grammarOf(schema);
  } catch (error) {
    expect(error).toBeInstanceOf(HalogenError);
    return error as HalogenError;
  }
  throw new Error(`${JSON.stringify(schema)} was taken`);
}

const inside = (schema: unknown) => ({ type: "object", properties: { "a/b": schema } });

describe("a schema that cannot be kept", () => {
  test.each<[string, unknown, string]>([
    ["not", { not: { type: "string" } }, "/not"],
    ["if", { if: {} }, "/if"],
    ["contains", { type: "array", contains: {} }, "/contains"],
    ["patternProperties", { patternProperties: { "^x": {} } }, "/patternProperties"],
    ["uniqueItems", { type: "array", uniqueItems: true }, "/uniqueItems"],
    ["multipleOf", { type: "integer", multipleOf: 3 }, "/multipleOf"],
    ["a format", { type: "string", format: "iri" }, "/format"],
    ["look-ahead", { type: "string", pattern: "^(?=a)" }, "/pattern"],
    ["a length beside a pattern", { type: "string", pattern: "^a+$", minLength: 3 }, "/pattern"],
    ["oneOf that may hold twice", { oneOf: [{ type: "string" }, { type: "string", minLength: 3 }] }, "/oneOf/1"],
    ["a foreign reference", { $ref: "https://example.org/x.json" }, "/$ref"],
    ["more members of any name", { type: "object", minProperties: 3 }, "/minProperties"],
    ["names of a kind", { type: "object", propertyNames: { maxLength: 3 } }, "/propertyNames"],
    ["items that differ, fixed", { const: [1, 1], uniqueItems: true }, "/uniqueItems"],
    ["lengths beyond any use", { type: "string", minLength: 3_000_000 }, "/minLength"],
  ])("is refused as unsupported: %s", (_, schema, pointer) => {
    const error = refusal(schema);
    expect(error.code).toBe("grammar.unsupported");
    if (pointer === "") return;
    expect(error.detail.pointer).toBe(pointer);
    expect(refusal(inside(schema)).detail.pointer).toMatch(
      pointer === "/$ref" ? /\$ref$/ : `/properties/a~1b${pointer}`,
    );
  });

  test("is refused with a place where it is too deep, and where a reference is none", () => {
    let deep: unknown = { type: "null" };
    for (let i = 0; i < 1000; i++) deep = { type: "array", items: deep };
    const error = refusal(deep);
    expect(error.code).toBe("grammar.unsupported");
    expect(String(error.detail.pointer)).toMatch(/^(\/items){200}$/);
    expect(refusal({ $ref: "#/%" })).toMatchObject({ code: "grammar.invalid", detail: { pointer: "/$ref" } });
  });

  test("a long list of values takes no longer than it is", () => {
    // Compared each with each it would be four hundred million comparisons: minutes.
    expect(refusal({ enum: Array.from({ length: 20_000 }, (_, i) => `v${i}`) }).code).toBe("grammar.unsupported");
  });

  test.each<[string, unknown, string]>([
    ["false", false, ""],
    ["minimum above maximum", { type: "integer", minimum: 5, maximum: 3 }, "/maximum"],
    ["no whole number between", { type: "integer", minimum: 0.2, maximum: 0.8 }, "/maximum"],
    ["lengths", { type: "string", minLength: 5, maxLength: 3 }, "/maxLength"],
    ["items", { type: "array", minItems: 3, maxItems: 1 }, "/maxItems"],
    ["a tuple that is too short", { type: "array", prefixItems: [true], items: false, minItems: 2 }, "/minItems"],
    ["an enum of another type", { type: "string", enum: [1, null] }, "/enum"],
    ["a const beyond its bound", { const: 7, maximum: 5 }, "/const"],
    ["a wanted member without a value", { type: "object", properties: { a: false }, required: ["a"] }, "/properties/a"],
    [
      "a wanted member that may not come",
      { type: "object", properties: {}, required: ["a"], additionalProperties: false },
      "/required",
    ],
    ["types that exclude each other", { allOf: [{ type: "string" }, { type: "integer" }] }, "/type"],
    ["alternatives that do not fit", { type: "string", anyOf: [{ type: "integer" }, { type: "null" }] }, ""],
    ["a pattern that is too long", { type: "string", pattern: "^a{5}$", maxLength: 3 }, "/pattern"],
  ])("is refused as impossible: %s", (_, schema, pointer) => {
    const error = refusal(schema);
    expect([error.code, error.detail.pointer ?? ""]).toEqual(["grammar.impossible", pointer]);
  });

  test("that needs itself for ever is impossible, at its place", () => {
    const error = refusal({
      type: "object",
      properties: { x: { $ref: "#/$defs/a" } },
      required: ["x"],
      $defs: { a: { type: "object", properties: { a: { $ref: "#/$defs/a" } }, required: ["a"] } },
    });
    expect(error.code).toBe("grammar.impossible");
    expect(error.detail.pointer).toContain("/$defs/a");
  });

  test.each<[string, unknown, string]>([
    ["a type that is none", { type: "text" }, "/type"],
    ["a reference to nowhere", { properties: { x: { $ref: "#/$defs/none" } } }, "/properties/x/$ref"],
    ["a schema that is a list", { items: [], properties: { x: [] } }, "/properties/x"],
    ["a broken expression", { pattern: "a(b" }, "/pattern"],
    ["a length that is no number", { type: "string", minLength: "3" }, "/minLength"],
  ])("is refused as no schema: %s", (_, schema, pointer) => {
    const error = refusal(schema);
    expect([error.code, error.detail.pointer]).toEqual(["grammar.invalid", pointer]);
  });

  test("that is no JSON says so", () => {
    expect(() => readGrammar({ kind: "json_schema", source: "{" })).toThrow(/no JSON/);
  });
});
