import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { HalogenError } from "../../../../app/error.ts";
import { createTokenizer } from "../../../../app/token/tokenizer.ts";
import { wellFormed } from "../../../../app/token/utf8.ts";
import { packedStrings } from "../../../fixtures/gguf-vocabulary.ts";
import { byteVocabulary } from "./vocabulary.ts";

const plain = (text: string) => [{ text, special: false }];
const trusted = (text: string) => [{ text, special: true }];

function errorOf(work: () => unknown): HalogenError {
  try {
    work();
  } catch (error) {
    if (error instanceof HalogenError) return error;
    throw error;
  }
  throw new Error("nothing was thrown");
}

describe("byte-level BPE", () => {
  const tokenizer = createTokenizer(byteVocabulary([" hello", "hello", "ß", "👋", "   "]));

  it("decodes what it encoded, for any string; lone surrogates come back as U+FFFD", () => {
    const units = fc
      .array(fc.integer({ min: 0, max: 0xffff }), { maxLength: 40 })
      .map((all) => String.fromCharCode(...all));
    const words = fc.array(fc.constantFrom("hello", " hello", "ß", "👋", "   ", "\n", "<|im_end|>", "x", "<think>"), {
      maxLength: 20,
    });
    fc.assert(
      fc.property(
        fc.oneof(
          fc.string({ unit: "binary" }),
          units,
          words.map((all) => all.join("")),
        ),
        (text) => {
          expect(tokenizer.decode(tokenizer.encode(plain(text)))).toBe(wellFormed(text));
        },
      ),
      { numRuns: 1000 },
    );
  });

  it("merges inside pieces only", () => {
    const [word] = tokenizer.encode(plain("hello"));
    const [spaced] = tokenizer.encode(plain(" hello"));
    expect(tokenizer.decode([word as number])).toBe("hello");
    expect(tokenizer.encode(plain("hello hello"))).toEqual([word, spaced]);
    expect(tokenizer.encode(plain("hello3"))).toEqual([word, 0x33]);
  });

  it("sees no border between a trusted span and an ordinary one", () => {
    const whole = tokenizer.encode(plain("x hello"));
    expect(tokenizer.encode([...trusted("x "), ...plain("hello")])).toEqual(whole);
    expect(tokenizer.encode([...trusted("x he"), ...plain("llo")])).toEqual(whole);
  });

  it("takes a piece of any length, and one that is seen again, in the same way", () => {
    const once = tokenizer.encode(plain("hello ".repeat(3000)));
    expect(tokenizer.encode(plain("hello ".repeat(3000)))).toEqual(once);
    const run = "ß".repeat(20_000);
    expect(tokenizer.decode(tokenizer.encode(plain(run)))).toBe(run);
  });

  it("puts the beginning token in front only where the model wants it and the template has not", () => {
    const wants = createTokenizer(byteVocabulary([], { flags: { add_bos_token: true } }));
    expect(wants.encodePrompt(plain("a"))).toEqual([257, 0x61]);
    expect(wants.encodePrompt(trusted("<|im_start|>a"))).toEqual([257, 0x61]);
    expect(tokenizer.encodePrompt(plain("a"))).toEqual([0x61]);
    const llama = createTokenizer(byteVocabulary([], { pre: "llama-bpe", flags: {} }));
    expect(llama.encodePrompt(plain("a"))).toEqual([257, 0x61]);
  });

  it("takes a whole piece as it stands in the vocabulary where the family says so", () => {
    // "xyz" is a token, but no merge leads to it.
    const base = byteVocabulary();
    const texts = Array.from({ length: base.types.length }, (_, id) => createTokenizer(base).tokenText(id));
    const tokens = packedStrings([...texts, "xyz"]);
    const types = Int32Array.from([...base.types, 1]);
    const id = texts.length;
    expect(createTokenizer({ ...base, tokens, types, pre: "llama-bpe" }).encode(plain("xyz"))).toEqual([id]);
    expect(createTokenizer({ ...base, tokens, types, pre: "qwen2" }).encode(plain("xyz"))).toEqual([0x78, 0x79, 0x7a]);
  });

  it("never reaches a normal token that is stored as literal text through its bytes", () => {
    // command-r has the joiner U+200D itself as a normal token.
    const base = byteVocabulary(["\u200d"]);
    const made = createTokenizer(base);
    const texts = Array.from({ length: base.types.length }, (_, id) => made.tokenText(id));
    const both = createTokenizer({
      ...base,
      tokens: packedStrings([...texts, "\u200d"]),
      types: Int32Array.from([...base.types, 1]),
    });
    expect(both.encode(plain("\u200d"))).toEqual(made.encode(plain("\u200d")));
  });
});

describe("createTokenizer", () => {
  it("names a pre-tokenizer it does not know", () => {
    const error = errorOf(() => createTokenizer(byteVocabulary([], { pre: "martian" })));
    expect(error.code).toBe("tokenizer.unsupported");
    expect(error.message).toContain('"martian"');
    expect(error.hint).toContain("qwen35");
  });

  it("names a kind of tokenizer it does not know", () => {
    const error = errorOf(() => createTokenizer(byteVocabulary([], { model: "rwkv" })));
    expect(error.code).toBe("tokenizer.unsupported");
    expect(error.message).toContain('"rwkv"');
  });

  it("says so when the file names no pre-tokenizer, and works", () => {
    const tokenizer = createTokenizer(byteVocabulary([], { pre: "" }));
    expect(tokenizer.notices).toHaveLength(1);
    expect(tokenizer.decode(tokenizer.encode(plain("so be it")))).toBe("so be it");
  });

  it("refuses damaged vocabularies with the numbers", () => {
    const base = byteVocabulary(["ab"]);
    expect(errorOf(() => createTokenizer({ ...base, types: new Int32Array(3) })).detail).toMatchObject({ types: 3 });
    expect(errorOf(() => createTokenizer({ ...base, merges: packedStrings(["ab"]) })).code).toBe("tokenizer.malformed");
    expect(errorOf(() => createTokenizer({ ...base, tokens: packedStrings([]), types: new Int32Array(0) })).code).toBe(
      "tokenizer.malformed",
    );
    const offsets = base.tokens.offsets.slice();
    offsets[5] = 1_000_000;
    expect(errorOf(() => createTokenizer({ ...base, tokens: { ...base.tokens, offsets } })).detail).toMatchObject({
      entry: 5,
    });
  });
});

describe("a vocabulary whose merges are no tokens", () => {
  it("is built, however many they are, and still encodes by bytes", () => {
    const letters = Array.from(
      { length: 200 },
      (_, i) => String.fromCharCode(0x61 + (i % 26)) + String.fromCharCode(0x41 + (i % 23)),
    );
    const merges = letters.flatMap((left) => letters.slice(0, 50).map((right) => `${left} ${right}`));
    const tokenizer = createTokenizer(byteVocabulary([], { merges: packedStrings(merges) }));
    expect(tokenizer.encode(plain("aAbB"))).toEqual([0x61, 0x41, 0x62, 0x42]);
    expect(tokenizer.decode(tokenizer.encode(plain("aA")))).toBe("aA");
  });

  it("loses no byte of a product that is no token", () => {
    const tokenizer = createTokenizer(byteVocabulary([], { merges: packedStrings(["a b", "ab c"]) }));
    expect(tokenizer.encode(plain("xabcx"))).toEqual([...Buffer.from("xabcx")]);
  });
});

describe("a vocabulary from anywhere", () => {
  const bytes = fc.uint8Array({ maxLength: 6 });
  const strings = (most: number) =>
    fc.array(
      fc.oneof(
        bytes,
        fc
          .constantFrom("a", "Ġ", "ab", "<s>", "a b", "b", "▁", "<0x41>")
          .map((text) => Uint8Array.from(Buffer.from(text))),
      ),
      { maxLength: most },
    );
  const pack = (parts: Uint8Array[]) => {
    const offsets = new Uint32Array(parts.length + 1);
    parts.forEach((part, i) => {
      offsets[i + 1] = (offsets[i] as number) + part.length;
    });
    return { bytes: Uint8Array.from(Buffer.concat(parts)), offsets };
  };

  it("gives a tokenizer that works, or our own error", () => {
    fc.assert(
      fc.property(
        strings(12),
        strings(8),
        fc.constantFrom("gpt2", "llama", "gemma4"),
        fc.array(fc.integer({ min: -1, max: 9 }), { minLength: 12, maxLength: 12 }),
        fc.dictionary(fc.constantFrom("bos", "eos", "unknown", "eot"), fc.integer({ min: -2, max: 20 })),
        fc.string({ unit: "binary" }),
        (tokens, merges, model, types, special, text) => {
          const vocabulary = {
            model,
            pre: "gpt-2",
            tokens: pack(tokens),
            types: Int32Array.from(types.slice(0, tokens.length)),
            scores: new Float32Array(tokens.length),
            merges: pack(merges),
            special,
            flags: {},
          };
          try {
            const tokenizer = createTokenizer(vocabulary);
            for (const trusted of [true, false]) {
              const ids = tokenizer.encodePrompt([{ text, special: trusted }]);
              for (const id of ids) expect(id >= 0 && id < tokens.length, `id ${id}`).toBe(true);
              expect(typeof tokenizer.decode(ids)).toBe("string");
            }
          } catch (error) {
            if (!(error instanceof HalogenError)) throw error;
          }
        },
      ),
      { numRuns: 3000 },
    );
  });
});

describe("a byte-level vocabulary", () => {
  it("says how much text a token stands for at most", () => {
    expect(createTokenizer(byteVocabulary()).longest).toBe("<|endoftext|>".length);
    expect(createTokenizer(byteVocabulary(["\u{1F600}".repeat(5)])).longest).toBe(20);
  });

  it("has its unknown token for a byte that it lacks, and nothing where it has none", () => {
    const base = byteVocabulary();
    const made = createTokenizer(base);
    const texts = Array.from({ length: base.types.length }, (_, id) => (id === 0x62 ? "nothing" : made.tokenText(id)));
    const ids = (special: Record<string, number>) =>
      createTokenizer({ ...base, special, tokens: packedStrings(texts) }).encode([{ text: "abc", special: false }]);
    expect(ids({ unknown: 7 })).toEqual([0x61, 7, 0x63]);
    expect(ids({})).toEqual([0x61, 0x63]);
  });
});

describe("end tokens", () => {
  it("are found by text and by key", () => {
    const tokenizer = createTokenizer(byteVocabulary([], { special: { eos: 258, eot: 97, eom: 99_999 } }));
    expect(tokenizer.endTokens).toEqual(new Set([256, 258, 97]));
  });

  it("leave out <|end|> where it only ends a channel", () => {
    const base = byteVocabulary();
    const made = createTokenizer(base);
    const texts = Array.from({ length: base.types.length }, (_, id) => made.tokenText(id));
    const ends = (keys: Record<string, number>, ...more: string[]): string[] => {
      const tokenizer = createTokenizer({
        ...base,
        special: { ...base.special, ...keys },
        tokens: packedStrings([...texts, ...more]),
        types: Int32Array.from([...base.types, ...more.map(() => 3)]),
      });
      return [...tokenizer.endTokens].map((id) => tokenizer.tokenText(id));
    };
    expect(ends({}, "<|end|>")).toContain("<|end|>");
    expect(ends({}, "<|end|>", "<|return|>", "<|call|>")).not.toContain("<|end|>");
    // Not even where a key names it.
    const eot = texts.length;
    expect(ends({ eot }, "<|end|>", "<|return|>", "<|call|>")).not.toContain("<|end|>");
    expect(ends({ eot }, "<|end|>")).toContain("<|end|>");
    // Solar Open: it stands behind the thought, and these two behind the reply.
    expect(ends({}, "<|end|>", "<|flush|>", "<|calls|>")).not.toContain("<|end|>");
    expect(ends({}, "<|end|>", "<|flush|>", "<|calls|>")).toEqual(expect.arrayContaining(["<|flush|>", "<|calls|>"]));
    expect(ends({ fim_pad: eot, fim_rep: eot + 1, fim_sep: eot + 2 }, "<PAD>", "<REPO>", "<SEP>")).toEqual(
      expect.arrayContaining(["<PAD>", "<REPO>", "<SEP>"]),
    );
  });

  const typed = (text: string, type: number) => {
    const base = byteVocabulary();
    const made = createTokenizer(base);
    const texts = Array.from({ length: base.types.length }, (_, id) => made.tokenText(id));
    const tokens = packedStrings([...texts, text]);
    return {
      id: texts.length,
      tokenizer: createTokenizer({ ...base, tokens, types: Int32Array.from([...base.types, type]) }),
    };
  };

  it("count also where a file calls them normal, or user-defined", () => {
    for (const type of [1, 3, 4]) {
      for (const text of ["<|eot_id|>", "<end_of_turn>", "<|tool_response>", "_<EOT>", "[EOS]", "<end_of_utterance>"]) {
        const { id, tokenizer } = typed(text, type);
        expect(tokenizer.endTokens.has(id), `${text} ${type}`).toBe(true);
        expect(tokenizer.encode([{ text: `a${text}`, special: true }])).toEqual([0x61, id]);
      }
    }
  });

  it("are not tags of HTML", () => {
    const ends = (type: number): boolean => {
      const { id, tokenizer } = typed("</s>", type);
      return tokenizer.endTokens.has(id);
    };
    expect([1, 3, 4].map(ends)).toEqual([false, true, false]);
  });
});
