/** Tiny ParoQuant folders against logits of an independent numpy forward (test/oracle/paroquant), and what is wrong with a folder. */
import { cpSync, mkdtempSync, readFileSync, rmSync, statSync, truncateSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import fc from "fast-check";
import { afterAll, describe, expect, it } from "vitest";
import { HalogenError } from "../../app/error.ts";
import { createTokenizer } from "../../app/token/tokenizer.ts";
import { createNativeEngine } from "../../native/index.ts";
import { failure } from "../fixtures/engine-contract.ts";
import { loadOptions } from "../fixtures/engine-request.ts";
import { type ParoFamily, type ParoGolden, paroGolden, safetensors, writeParoFolder } from "../fixtures/paroquant.ts";

const scratch = mkdtempSync(join(tmpdir(), "halogen-paro-"));
const engine = createNativeEngine();
afterAll(async () => {
  await engine.close();
  rmSync(scratch, { recursive: true, force: true });
});

const families: ParoFamily[] = ["qwen35", "qwen35moe"];
/** Nats per token. The golden is in double precision; what is left is the rounding of floats. */
const mostDivergence = 1e-6;

function folderOf(family: ParoFamily, name: string, change: (golden: ParoGolden) => void = () => {}, files = 1) {
  const golden = paroGolden(family);
  change(golden);
  const folder = join(scratch, name);
  writeParoFolder(folder, golden, files);
  return { folder, golden };
}

function logSoftmax(row: ArrayLike<number>): number[] {
  const values = Array.from(row);
  const highest = Math.max(...values);
  const sum = values.reduce((total, value) => total + Math.exp(value - highest), 0);
  return values.map((value) => value - highest - Math.log(sum));
}

/** Mean KL of the engine's scores to the golden ones, and how often the best token is the same. */
function compare({ tokens, vocabulary, logits }: ParoGolden, scores: Float32Array) {
  let divergence = 0;
  let same = 0;
  for (let t = 0; t < tokens.length; t++) {
    const wanted = logSoftmax(logits.subarray(t * vocabulary, (t + 1) * vocabulary));
    const actual = Array.from(scores.subarray(t * vocabulary, (t + 1) * vocabulary));
    divergence += wanted.reduce((sum, log, i) => sum + Math.exp(log) * (log - (actual[i] ?? Number.NaN)), 0);
    if (wanted.indexOf(Math.max(...wanted)) === actual.indexOf(Math.max(...actual))) same++;
  }
  return { divergence: divergence / tokens.length, same };
}

describe.each(families)("a ParoQuant folder of %s", (family) => {
  it.each(["reference", undefined] as const)("computes what its weights say (kernels: %s)", async (cpuVariant) => {
    const { folder, golden } = folderOf(family, `${family}-${cpuVariant}`);
    const own = createNativeEngine(cpuVariant === undefined ? {} : { cpuVariant });
    try {
      const { handle, plan } = await own.load(loadOptions(folder, { kvType: "f32" }));
      expect(plan.fits).toBe(true);
      const { divergence, same } = compare(golden, await own.score(handle, golden.tokens, 0));
      expect(divergence).toBeLessThan(mostDivergence);
      expect(same).toBe(golden.tokens.length);
    } finally {
      await own.close();
    }
  });

  it("is the same from several files with an index, and is inspected", async () => {
    const { folder, golden } = folderOf(family, `${family}-index`, undefined, 3);
    const { handle } = await engine.load(loadOptions(folder, { kvType: "f32" }));
    expect(compare(golden, await engine.score(handle, golden.tokens, 0)).divergence).toBeLessThan(mostDivergence);
    await engine.unload(handle);
    const inspection = await engine.inspect(folder);
    expect(inspection).toMatchObject({ supported: true, architecture: family, format: "AWQ4", vocabularySize: 256 });
    expect(inspection.name).toBe(`${family}-index`);
    const bytes = [1, 2, 3].map((part) => statSync(join(folder, `model-0000${part}-of-00003.safetensors`)).size);
    expect(inspection.bytes).toBe(bytes.reduce((sum, each) => sum + each));
  });
});

describe("a folder that is not as it should be", () => {
  const refused = async (folder: string, code: string, words: string) => {
    const error = await failure(engine.load(loadOptions(folder)));
    expect(error).toMatchObject({ code, message: expect.stringContaining(words) });
    expect(await failure(engine.plan(loadOptions(folder)))).toMatchObject({ code });
  };
  const first = "model.language_model.layers.0.linear_attn.in_proj_z";

  it("names a file that is missing or cut", async () => {
    const { folder } = folderOf("qwen35", "cut", undefined, 2);
    const file = join(folder, "model-00002-of-00002.safetensors");
    truncateSync(file, statSync(file).size - 1);
    await refused(folder, "checkpoint.truncated", "model-00002-of-00002.safetensors");
    truncateSync(file, 100);
    await refused(folder, "checkpoint.truncated", "model-00002-of-00002.safetensors");
    rmSync(file);
    await refused(folder, "file.missing", "model-00002-of-00002.safetensors");
  });

  it("names a tensor that is missing, of another shape or of another type", async () => {
    const { folder: lacking } = folderOf("qwen35", "lacking", (golden) => {
      golden.tensors = golden.tensors.filter(({ name }) => name !== `${first}.theta`);
    });
    await refused(lacking, "model.missing_tensor", `${first}.theta`);
    const { folder: shaped } = folderOf("qwen35", "shaped", (golden) => {
      for (const tensor of golden.tensors) if (tensor.name === `${first}.qzeros`) tensor.shape.reverse();
    });
    await refused(shaped, "model.tensor_shape", `${first}.qzeros`);
    const { folder: typed } = folderOf("qwen35", "typed", (golden) => {
      for (const tensor of golden.tensors) if (tensor.name === `${first}.scales`) tensor.dtype = "BF16";
    });
    await refused(typed, "model.unsupported_format", `${first}.scales`);
  });

  it("refuses pairs that name a column twice or leave their group", async () => {
    for (const [name, value] of [
      ["twice", 5],
      ["beyond", 128],
      ["below", -1],
    ] as const) {
      const { folder } = folderOf("qwen35", name, (golden) => {
        const pairs = golden.tensors.find((tensor) => tensor.name === `${first}.pairs`)?.bytes;
        pairs?.writeInt16LE(value, pairs.readInt16LE(0) === value ? 2 : 0);
      });
      await refused(folder, "checkpoint.malformed", `${first}.pairs`);
    }
  });

  it("refuses another architecture and another weight format by name", async () => {
    const { folder } = folderOf("qwen35", "other", (golden) => {
      golden.config = { model_type: "mamba9" };
    });
    await refused(folder, "model.unknown_architecture", "mamba9");
    const { folder: bits } = folderOf("qwen35", "bits", (golden) => {
      golden.config = { ...golden.config, quantization_config: { quant_method: "gptq", bits: 3, group_size: 64 } };
    });
    await refused(bits, "model.unsupported_format", "gptq");
  });

  it("refuses wrong headers and configurations, and never more", async () => {
    const { folder, golden } = folderOf("qwen35", "headers");
    const file = join(folder, "model.safetensors");
    const good = readFileSync(file);
    const wrong: [string, Buffer][] = [
      ["checkpoint.truncated", Buffer.alloc(0)],
      ["checkpoint.truncated", Buffer.alloc(8, 0xff)],
      ["checkpoint.malformed", safetensors(golden.tensors, "{")],
      ["checkpoint.malformed", safetensors(golden.tensors, "[]")],
      ["checkpoint.malformed", safetensors(golden.tensors, `{"a":{"dtype":"F32","shape":[4],"data_offsets":[8,4]}}`)],
      ["checkpoint.malformed", safetensors(golden.tensors, `{"a":{"dtype":"F32","shape":[3],"data_offsets":[0,16]}}`)],
      ["checkpoint.malformed", safetensors(golden.tensors, `{"a":{"dtype":"F32","shape":[-1],"data_offsets":[0,4]}}`)],
      ["checkpoint.malformed", safetensors(golden.tensors, `{"a":{"dtype":"F32","shape":[1.5],"data_offsets":[0,6]}}`)],
      [
        "checkpoint.malformed",
        safetensors(golden.tensors, `{"a":{"dtype":"F32","shape":[4294967296,4294967296,4],"data_offsets":[0,16]}}`),
      ],
      ["checkpoint.malformed", safetensors(golden.tensors, `${"[".repeat(100_000)}`)],
      [
        "checkpoint.truncated",
        safetensors(golden.tensors, `{"a":{"dtype":"U8","shape":[1e15],"data_offsets":[0,1e15]}}`),
      ],
    ];
    for (const [code, bytes] of wrong) {
      writeFileSync(file, bytes);
      await refused(folder, code, "model.safetensors");
    }
    writeFileSync(file, good);
    const text = golden.config.text_config as Record<string, unknown>;
    const values: [string, unknown][] = [
      ["num_hidden_layers", 1e9],
      ["num_hidden_layers", "two"],
      ["hidden_size", -1],
      ["rms_norm_eps", null],
      ["layer_types", [1]],
    ];
    for (const [key, value] of values) {
      const config = { ...golden.config, text_config: { ...text, [key]: value } };
      writeFileSync(join(folder, "config.json"), JSON.stringify(config));
      const { code } = await failure(engine.load(loadOptions(folder)));
      expect(["model.bad_value", "model.missing_key"], `${key} ${value}`).toContain(code);
    }
    const empty = join(scratch, "empty");
    cpSync(folder, empty, { recursive: true });
    rmSync(join(empty, "config.json"));
    expect(await failure(engine.load(loadOptions(empty)))).toMatchObject({ code: "file.unreadable" });
  });
});

describe("a damaged folder", () => {
  it("is refused with a code or loaded, whatever is changed in its header and configuration", async () => {
    const { folder } = folderOf("qwen35", "damaged");
    const files = ["model.safetensors", "config.json"].map((name) => join(folder, name));
    const good = files.map((file) => readFileSync(file));
    await fc.assert(
      fc.asyncProperty(
        fc.constantFrom(0, 1),
        fc.array(
          fc.tuple(fc.double({ min: 0, max: 1, maxExcluded: true, noNaN: true }), fc.integer({ min: 0, max: 255 })),
          {
            minLength: 1,
            maxLength: 4,
          },
        ),
        async (which, changes) => {
          const bytes = Buffer.from(good[which] ?? []);
          // Of the tensor file, the header alone: other weights are no damage that anyone could see.
          const length = which === 0 ? 8 + Number(bytes.readBigUInt64LE()) : bytes.length;
          for (const [place, value] of changes) bytes[Math.floor(place * length)] = value;
          writeFileSync(files[which] ?? "", bytes);
          const outcome = await engine.load(loadOptions(folder)).then(
            ({ handle }) => engine.unload(handle),
            (error: unknown) => error,
          );
          writeFileSync(files[which] ?? "", good[which] ?? "");
          if (outcome !== undefined) {
            expect(outcome).toBeInstanceOf(HalogenError);
            expect((outcome as HalogenError).code).not.toBe("internal");
          }
        },
      ),
      { numRuns: 150 },
    );
  });
});

describe("tokenizer and template of a folder", () => {
  const letters = ["h", "e", "l", "o", "Ġ", "w", "r", "d", "!", "é", "he", "ll", "hell", "hello"];
  const tokenizer = {
    added_tokens: [
      { id: 14, content: "<|endoftext|>", special: true },
      { id: 15, content: "<|im_end|>", special: true },
      { id: 17, content: "<think>", special: false },
    ],
    normalizer: { type: "NFC" },
    pre_tokenizer: {
      type: "Sequence",
      pretokenizers: [
        {
          type: "Split",
          pattern: {
            Regex: String.raw`(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?[\p{L}\p{M}]+|\p{N}| ?[^\s\p{L}\p{M}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+`,
          },
          behavior: "Isolated",
        },
        { type: "ByteLevel", add_prefix_space: false },
      ],
    },
    model: {
      type: "BPE",
      vocab: Object.fromEntries(letters.map((text, id) => [text, id])),
      merges: ["h e", ["l", "l"], "he ll", "hell o"] as unknown[],
    },
  };
  const write = (folder: string, name: string, value: unknown) =>
    writeFileSync(join(folder, name), typeof value === "string" ? value : JSON.stringify(value));
  const texts = ({ bytes, offsets }: { bytes: Uint8Array; offsets: Uint32Array }) =>
    Array.from(offsets.subarray(1), (end, i) => Buffer.from(bytes.subarray(offsets[i], end)).toString());

  it("become the vocabulary that a GGUF of the model has", async () => {
    const { folder } = folderOf("qwen35", "tokens", (golden) => {
      const text = golden.config.text_config as Record<string, unknown>;
      golden.config = { ...golden.config, text_config: { ...text, vocab_size: 20 } };
    });
    write(folder, "tokenizer.json", tokenizer);
    write(folder, "tokenizer_config.json", {
      bos_token: null,
      eos_token: { content: "<|im_end|>" },
      pad_token: "<|endoftext|>",
      add_bos_token: false,
      chat_template: "{{ 'older' }}",
    });
    write(folder, "chat_template.jinja", "{{ messages }}");
    write(folder, "generation_config.json", { temperature: 0.6, top_k: 20, top_p: 0.95, eos_token_id: [15] });
    const vocabulary = await engine.vocabulary(folder);
    expect(vocabulary).toMatchObject({ model: "gpt2", pre: "qwen35", special: { eos: 15, padding: 14 } });
    expect(vocabulary.special).not.toHaveProperty("bos");
    expect(vocabulary.flags).toEqual({ add_bos_token: false });
    expect(texts(vocabulary.tokens)).toEqual([
      ...letters,
      "<|endoftext|>",
      "<|im_end|>",
      "[PAD16]",
      "<think>",
      "[PAD18]",
      "[PAD19]",
    ]);
    expect([...vocabulary.types]).toEqual([...letters.map(() => 1), 3, 3, 5, 4, 5, 5]);
    expect(texts(vocabulary.merges)).toEqual(["h e", "l l", "he ll", "hell o"]);
    const ids = createTokenizer(vocabulary).encode([{ text: "hello hello!<|im_end|>", special: true }]);
    expect(ids).toEqual([13, 4, 13, 8, 15]);
    const inspection = await engine.inspect(folder);
    expect(inspection.template).toBe("{{ messages }}");
    expect(inspection.metadata).toMatchObject({ "general.sampling.temp": 0.6, "general.sampling.top_k": 20 });
    rmSync(join(folder, "chat_template.jinja"));
    expect((await engine.inspect(folder)).template).toBe("{{ 'older' }}");
  });

  it("are refused by name where they are not known or damaged", async () => {
    const { folder } = folderOf("qwen35", "wrong-tokens");
    const refused = async (value: unknown, code: string, words: string) => {
      write(folder, "tokenizer.json", value);
      const error = await failure(engine.vocabulary(folder));
      expect(error).toMatchObject({ code, message: expect.stringContaining(words) });
    };
    expect(await failure(engine.vocabulary(folder))).toMatchObject({ code: "tokenizer.malformed" });
    const { model } = tokenizer;
    await refused({ ...tokenizer, model: { ...model, type: "Unigram" } }, "tokenizer.unsupported", "Unigram");
    const pattern = { type: "Split", pattern: { Regex: "[a-z]+" } };
    await refused({ ...tokenizer, pre_tokenizer: pattern }, "tokenizer.unsupported", "[a-z]+");
    await refused({ ...tokenizer, model: { ...model, vocab: {} } }, "tokenizer.malformed", "no vocabulary");
    await refused({ ...tokenizer, model: { ...model, vocab: { a: 1e15 } } }, "tokenizer.malformed", "whole number");
    await refused({ ...tokenizer, model: { ...model, merges: [["a"]] } }, "tokenizer.malformed", "no pair");
    await refused('{"model":', "checkpoint.malformed", "cut short");
    await refused('{"model":{"vocab":{"\\ud800":0}}}', "tokenizer.unsupported", "no word expression");
  });
});
