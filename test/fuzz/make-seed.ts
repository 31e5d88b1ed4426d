/** Writes starting inputs for a fuzz target into a folder: small valid files of every format and architecture. `make-seed.ts gguf FOLDER` */
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { golden, goldenFamilies } from "../fixtures/architecture.ts";
import { type MetadataEntry, writeGguf } from "../fixtures/gguf-writer.ts";
import { blockFormats, quantisedLlama } from "../fixtures/quantised-model.ts";

const largest = 400_000;

function* gguf(): Generator<[name: string, bytes: Uint8Array]> {
  const small = { embedding: 32, heads: 1, keyHeads: 1, head: 32, inner: 32, layers: 1, vocabulary: 8 };
  for (const [format, { values }] of Object.entries(blockFormats)) {
    const row = Math.max(32, values);
    yield [format, quantisedLlama(format, { ...small, embedding: row, head: row, inner: row })];
  }
  for (const family of goldenFamilies) {
    const bytes = golden(family).gguf();
    if (bytes.length <= largest) yield [family, bytes];
    // The larger ones without their data: what reads the header is reached all the same.
    else yield [family, bytes.subarray(0, 16_384)];
  }
  yield ["vocabulary", writeGguf(vocabulary(), [])];
}

/** Every key of a tokenizer, with a few entries each. */
function vocabulary(): Record<string, MetadataEntry> {
  const tokens = ["<unk>", "<s>", "</s>", "a", "b", "ab", "<0x0A>", "\u{2581}"];
  return {
    "general.architecture": ["string", "llama"],
    "general.name": ["string", "seed"],
    "general.alignment": ["u32", 32],
    "tokenizer.ggml.model": ["string", "llama"],
    "tokenizer.ggml.pre": ["string", "default"],
    "tokenizer.ggml.tokens": ["string[]", tokens],
    "tokenizer.ggml.scores": ["f32[]", tokens.map((_, at) => -at)],
    "tokenizer.ggml.token_type": ["i32[]", tokens.map(() => 1)],
    "tokenizer.ggml.merges": ["string[]", ["a b"]],
    "tokenizer.ggml.bos_token_id": ["u32", 1],
    "tokenizer.ggml.eos_token_id": ["u32", 2],
    "tokenizer.ggml.add_bos_token": ["bool", true],
    "tokenizer.chat_template": ["string", "{% for m in messages %}{{ m.content }}{% endfor %}"],
  };
}

const makers: Record<string, () => Iterable<[string, Uint8Array]>> = { gguf };
const [, , target = "", folder = ""] = process.argv;
const maker = makers[target];
if (maker === undefined || folder === "")
  throw new Error(`usage: make-seed.ts ${Object.keys(makers).join("|")} FOLDER`);
mkdirSync(folder, { recursive: true });
for (const [name, bytes] of maker()) writeFileSync(join(folder, name), bytes);
