/** Replies of a real, weak model held to grammars: whatever it would rather say, what it says fits. */
import { Ajv2020 } from "ajv/dist/2020.js";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { Engine, GenerateRequest, GrammarSource, GrammarThought } from "../../app/engine.ts";
import { readGrammar } from "../../app/grammar/grammar.ts";
import { createTokenizer, type Tokenizer } from "../../app/token/tokenizer.ts";
import { createNativeEngine } from "../../native/index.ts";
import { endlessSchema } from "../fixtures/endless-schema.ts";
import { failure, readAll } from "../fixtures/engine-contract.ts";
import { generateRequest, loadOptions } from "../fixtures/engine-request.ts";
import { reader } from "../fixtures/grammar-text.ts";
import { starterModel, storyPrompt } from "../fixtures/starter-model.ts";

let engine: Engine;
let handle: number;
let tokenizer: Tokenizer;

beforeAll(async () => {
  engine = createNativeEngine();
  handle = (await engine.load(loadOptions(starterModel(), { contextLength: 2048 }))).handle;
  tokenizer = createTokenizer(await engine.vocabulary(starterModel()));
});
afterAll(() => engine.close());

function ask(question: string, grammar: GrammarSource, patch: Partial<GenerateRequest> = {}) {
  const text = `<|im_start|>user\n${question}<|im_end|>\n<|im_start|>assistant\n`;
  const tokens = Int32Array.from(tokenizer.encodePrompt([{ text, special: true }]));
  return engine.generate(
    generateRequest(handle, tokens, {
      sampling: { temperature: 1, topK: 0, topP: 1, minP: 0, seed: 1 },
      maxTokens: 400,
      stopTokens: [...tokenizer.endTokens],
      grammar,
      ...patch,
    }),
  );
}

const seeded = (seed: number): Partial<GenerateRequest> => ({
  sampling: { temperature: 1, topK: 0, topP: 1, minP: 0, seed },
});

const thoughtUntil = (close: string): GrammarThought => ({
  begun: true,
  opens: [],
  leads: [{ text: close, to: "answer" }],
  never: [],
  answers: [],
});

const person = {
  type: "object",
  properties: {
    name: { type: "string", minLength: 1, maxLength: 30 },
    age: { type: "integer", minimum: 0, maximum: 120 },
    height: { type: "number", minimum: 0.5, maximum: 2.5 },
    languages: {
      type: "array",
      items: { enum: ["English", "Deutsch", "Français", "日本語"] },
      minItems: 1,
      maxItems: 3,
    },
    parent: { anyOf: [{ type: "null" }, { $ref: "#/$defs/short" }] },
  },
  required: ["name", "age", "languages", "parent"],
  additionalProperties: false,
  $defs: {
    short: {
      type: "object",
      properties: { name: { type: "string", pattern: "^[A-Z][a-zé]{1,9}$" } },
      required: ["name"],
    },
  },
};

describe("a real model at temperature 1", () => {
  test.each([1, 2, 3, 4, 5, 6])("keeps to a JSON Schema (seed %i)", async (seed) => {
    const grammar: GrammarSource = { kind: "json_schema", source: JSON.stringify(person) };
    const generation = ask("Describe a person.", grammar, seeded(seed));
    const text = tokenizer.decode(await readAll(generation));
    const validate = new Ajv2020({ strict: false }).compile(person);
    expect([text, validate(JSON.parse(text)), validate.errors]).toEqual([text, true, null]);
    expect(["grammar", "stop_token"]).toContain((await generation.outcome).cause);
  });

  test.each([1, 2, 3])("writes JSON (seed %i)", async (seed) => {
    const generation = ask("Describe a house as short JSON.", { kind: "json", source: "" }, seeded(seed));
    const text = tokenizer.decode(await readAll(generation));
    const { cause } = await generation.outcome;
    if (cause === "length") {
      // Cut off, but right as far as it goes.
      let state = reader(readGrammar({ kind: "json", source: "" }));
      for (const letter of text) state = state.after(letter);
      expect(state.alive).toBe(true);
    } else expect(typeof JSON.parse(text)).toBe("object");
  });

  test.each([1, 2, 3])("keeps to a regular expression (seed %i)", async (seed) => {
    const source = "^(Yes|No), because [a-zé ,']{10,60}\\.\\n[0-9]{4}-[0-9]{2}$";
    const text = tokenizer.decode(await readAll(ask("Is the sky green?", { kind: "regex", source }, seeded(seed))));
    expect(text).toMatch(new RegExp(source, "u"));
  });

  test.each([1, 2, 3])("keeps to an EBNF (seed %i)", async (seed) => {
    const source = 'root ::= line{3}\nline ::= "- " word (" " word){0,5} "\\n"\nword ::= [A-Z]? [a-z]{1,12}';
    const text = tokenizer.decode(await readAll(ask("List three things.", { kind: "ebnf", source }, seeded(seed))));
    expect(text).toMatch(/^(- [A-Z]?[a-z]{1,12}( [A-Z]?[a-z]{1,12}){0,5}\n){3}$/);
  });
});

describe("a constrained reply", () => {
  const yes: GrammarSource = { kind: "regex", source: "yes|no|maybe" };

  test("gives the same text again with the same seed, and leaves others alone", async () => {
    const first = tokenizer.decode(await readAll(ask("Well?", yes)));
    const plain = engine.generate(generateRequest(handle, storyPrompt, { maxTokens: 20 }));
    const again = ask("Well?", yes);
    const [free, text] = await Promise.all([readAll(plain), readAll(again)]);
    expect(tokenizer.decode(text)).toBe(first);
    expect(free).toEqual(await readAll(engine.generate(generateRequest(handle, storyPrompt, { maxTokens: 20 }))));
  });

  test("ends where the grammar does, also without stop tokens in the request", async () => {
    const generation = ask("Well?", yes, { stopTokens: [] });
    expect(["yes", "no", "maybe"]).toContain(tokenizer.decode(await readAll(generation)));
    expect((await generation.outcome).cause).toBe("grammar");
  });

  test("that reaches its longest length in the middle says so", async () => {
    const generation = ask("Count.", { kind: "regex", source: "[0-9]{200}" }, { maxTokens: 5 });
    expect(tokenizer.decode(await readAll(generation))).toMatch(/^[0-9]+$/);
    expect((await generation.outcome).cause).toBe("length");
  });

  test("is cancelled within a step, before and while it runs", async () => {
    const early = ask("Count.", { kind: "regex", source: "[0-9]*x" });
    early.cancel();
    expect((await early.outcome).cause).toBe("cancelled");
    const late = ask("Count.", { kind: "regex", source: "[0-9]{5000}" });
    const batches = late[Symbol.asyncIterator]();
    await batches.next();
    late.cancel();
    expect((await late.outcome).cause).toBe("cancelled");
  });

  test("goes together with penalties, stop sequences and a least length", async () => {
    const sequence = Int32Array.from(tokenizer.encode([{ text: "77", special: false }]));
    const generation = ask("Count.", { kind: "regex", source: "7{40}" }, { stopSequences: [sequence], minTokens: 4 });
    const ids = await readAll(generation);
    expect(ids.length).toBeGreaterThanOrEqual(4);
    expect(tokenizer.decode(ids)).toMatch(/^7+$/);
  });

  test("may think first: what ends the thought may be several tokens, or the middle of one, and then the grammar holds", async () => {
    for (const close of [" the", ",", "lm of", "sea is a"]) {
      const thought = thoughtUntil(close);
      const generation = ask("Tell me a story about the sea.", yes, {
        thought,
        sampling: { temperature: 0, topK: 0, topP: 1, minP: 0, seed: 1 },
      });
      const text = tokenizer.decode(await readAll(generation));
      const at = text.indexOf(close);
      expect([close, text, at >= 0]).toEqual([close, text, true]);
      expect([close, text.slice(at + close.length).trimStart()]).toEqual([
        close,
        expect.stringMatching(/^(yes|no|maybe)$/),
      ]);
      expect(["grammar", "stop_token"]).toContain((await generation.outcome).cause);
    }
  });

  test("that thinks to its longest length ends there, and not at a stop token", async () => {
    const thought = thoughtUntil("<a marker that never comes>");
    const bias = [...tokenizer.endTokens].map((token) => ({ token, bias: 50 }));
    const generation = ask("Hi.", yes, {
      thought,
      maxTokens: 60,
      sampling: { temperature: 1, topK: 0, topP: 1, minP: 0, seed: 3, logitBias: bias },
    });
    expect(await readAll(generation)).toHaveLength(60);
    expect((await generation.outcome).cause).toBe("length");
  });

  test("goes on with what is written already, and refuses what does not fit", async () => {
    const rest = tokenizer.decode(await readAll(ask("Well?", yes, { written: "ma" })));
    expect(rest).toBe("ybe");
    const whole = ask("Well?", yes, { written: "yes" });
    expect(await readAll(whole)).toEqual([]);
    expect((await whole.outcome).cause).toBe("grammar");
    expect((await failure(ask("Well?", yes, { written: "why" }).outcome)).code).toBe("grammar.impossible");
    expect((await failure(ask("Well?", yes, { thought: { ...thoughtUntil("x"), leads: [] } }).outcome)).code).toBe(
      "request.invalid",
    );
  });

  test("whose grammar takes for ever to compile stops nobody, and can be cancelled", async () => {
    const order: string[] = [];
    const endless = ask("Describe a person.", endlessSchema());
    const ended = endless.outcome.then(({ cause }) => order.push(cause));
    await readAll(engine.generate(generateRequest(handle, storyPrompt, { maxTokens: 20 })));
    order.push("plain");
    expect(["yes", "no", "maybe"]).toContain(tokenizer.decode(await readAll(ask("Well?", yes))));
    order.push("yes");
    await engine.memory();
    endless.cancel();
    await ended;
    expect(order).toEqual(["plain", "yes", "cancelled"]);
  });

  test("made ready before, says what it says when it is not; an unload meanwhile leaves nothing behind", async () => {
    const grammar: GrammarSource = { kind: "json_schema", source: JSON.stringify(person) };
    const expected = await readAll(ask("Describe a person.", grammar, seeded(5)));
    const fresh = await engine.load(loadOptions(starterModel(), { contextLength: 2048 }));
    await engine.prepareGrammar(fresh.handle);
    // A reply without a grammar is none of its business.
    await readAll(engine.generate(generateRequest(fresh.handle, storyPrompt, { maxTokens: 3 })));
    const prepared = ask("Describe a person.", grammar, { ...seeded(5), handle: fresh.handle });
    expect(await readAll(prepared)).toEqual(expected);
    await engine.unload(fresh.handle);

    const left = await engine.load(loadOptions(starterModel(), { contextLength: 256 }));
    await Promise.all([engine.prepareGrammar(left.handle), engine.unload(left.handle)]);
    expect((await failure(engine.prepareGrammar(left.handle))).code).toBe("model.not_loaded");
    expect(["yes", "no", "maybe"]).toContain(tokenizer.decode(await readAll(ask("Well?", yes))));
  });

  test("with a fault in its grammar is refused with the place, and the engine goes on", async () => {
    const broken: [GrammarSource, string, Record<string, unknown>][] = [
      [
        { kind: "json_schema", source: '{"properties":{"a":{"not":{}}}}' },
        "grammar.unsupported",
        { pointer: "/properties/a/not" },
      ],
      [{ kind: "regex", source: "a(b" }, "grammar.invalid", { position: 1 }],
      [{ kind: "ebnf", source: 'root ::= "a"\n | nothing' }, "grammar.invalid", { line: 2, column: 4 }],
      [{ kind: "ebnf", source: 'root ::= "a" root' }, "grammar.impossible", { rule: "root" }],
    ];
    for (const [grammar, code, detail] of broken) {
      const error = await failure(ask("x", grammar).outcome);
      expect(error.code).toBe(code);
      expect(error.detail).toMatchObject(detail);
    }
    expect((await failure(ask("x", { kind: "xml" as "json", source: "" }).outcome)).code).toBe("request.invalid");
    expect((await failure(ask("x", yes, { handle: 999 }).outcome)).code).toBe("model.not_loaded");
    expect(["yes", "no", "maybe"]).toContain(tokenizer.decode(await readAll(ask("Well?", yes))));
  });

  test("ends when the engine closes", async () => {
    const other = createNativeEngine({ threads: 1 });
    const loaded = await other.load(loadOptions(starterModel()));
    const running = other.generate(
      generateRequest(loaded.handle, storyPrompt, {
        maxTokens: 400,
        grammar: { kind: "regex", source: "[0-9 ]{900}" },
      }),
    );
    const batches = running[Symbol.asyncIterator]();
    await batches.next();
    await Promise.all([other.close(), readAll(running)]);
    expect((await running.outcome).cause).toBe("cancelled");
  });
});
