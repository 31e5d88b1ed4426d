/** Writes starting inputs for a fuzz target into a folder: small valid ones of every kind. `make-seed.ts gguf|folder|template|tokenizer FOLDER` */
import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { golden, goldenFamilies } from "../fixtures/architecture.ts";
import { type MetadataEntry, type WrittenTensor, writeGguf } from "../fixtures/gguf-writer.ts";
import { paroGolden, safetensors } from "../fixtures/paroquant.ts";
import { blockFormats, quantisedLlama, quantisedParts, randomBlocks } from "../fixtures/quantised-model.ts";

/** Larger ones cost more time than they find. */
const largest = 80_000;
const header = 12_000;

/** Random Q4_0 blocks wherever a tensor's rows allow: an eighth of the size. */
function small(tensor: WrittenTensor): WrittenTensor {
  const { name, ne } = tensor;
  if (ne.length < 2 || (ne[0] ?? 0) % 32 !== 0) return tensor;
  const count = ne.reduce((product, each) => product * each, 1);
  return { name, ne, type: 2, bytes: randomBlocks("Q4_0", count, 1 / Math.sqrt(ne[0] ?? 1), name) };
}

function* gguf(): Generator<[name: string, bytes: Uint8Array]> {
  const shape = { heads: 1, keyHeads: 1, head: 32, inner: 32, layers: 1, vocabulary: 8 };
  for (const [format, { values }] of Object.entries(blockFormats)) {
    yield [format, quantisedLlama(format, { ...shape, embedding: Math.max(32, values) })];
  }
  for (const family of goldenFamilies) {
    const bytes = golden(family).gguf(small);
    // The larger ones without their data: what reads the header is reached all the same.
    yield [family, bytes.length <= largest ? bytes : bytes.subarray(0, header)];
  }
  yield ["vocabulary", writeGguf(vocabulary(), [])];
  yield* bombs();
}

const long = (value: bigint | number): Buffer => {
  const bytes = Buffer.alloc(8);
  bytes.writeBigUInt64LE(BigInt(value));
  return bytes;
};
const word = (value: number): Buffer => {
  const bytes = Buffer.alloc(4);
  bytes.writeUInt32LE(value);
  return bytes;
};
const text = (value: string): Buffer => Buffer.concat([long(value.length), Buffer.from(value)]);

/** Small files that announce much: a reader that believes them runs out of memory or time. */
function* bombs(): Generator<[name: string, bytes: Uint8Array]> {
  const file = (tensors: bigint | number, keys: bigint | number, ...parts: Buffer[]): Buffer =>
    Buffer.concat([Buffer.from("GGUF"), word(3), long(tensors), long(keys), ...parts]);
  const [all, half] = [2n ** 64n - 1n, 2n ** 61n];
  yield ["bomb-tensors", file(all, 0)];
  yield ["bomb-keys", file(0, half)];
  yield ["bomb-string", file(0, 1, text("general.name"), word(8), long(all))];
  yield ["bomb-name", file(0, 1, long(half))];
  // A string's array, a byte's, and one whose size overflows.
  for (const [element, count] of [
    [8, 2n ** 40n],
    [0, 2n ** 40n],
    [10, half],
  ] as const) {
    yield [`bomb-array-${element}`, file(0, 1, text("tokenizer.ggml.tokens"), word(9), word(element), long(count))];
  }
  const nested = Array.from({ length: 4000 }, () => [word(9), long(1)]).flat();
  yield ["bomb-nested", file(0, 1, text("a"), word(9), ...nested, word(0), long(0))];
  const same = Array.from({ length: 4000 }, () => Buffer.concat([text("k"), word(0), Buffer.from([0])]));
  yield ["bomb-same-keys", file(0, same.length, ...same)];
  const strings = Array.from({ length: 9000 }, () => text(""));
  yield [
    "bomb-empty-tokens",
    file(0, 1, text("tokenizer.ggml.tokens"), word(9), word(8), long(strings.length), ...strings),
  ];
  yield [
    "bomb-shape",
    file(1, 0, text("t"), word(4), long(2n ** 31n), long(2n ** 31n), long(2), long(1), word(0), long(0)),
  ];
  const sizes = [
    "block_count",
    "context_length",
    "embedding_length",
    "feed_forward_length",
    "attention.head_count",
    "vocab_size",
    "expert_count",
  ];
  const large = sizes.map((key) => Buffer.concat([text(`llama.${key}`), word(10), long(2n ** 40n)]));
  yield ["bomb-sizes", file(0, large.length + 1, text("general.architecture"), word(8), text("llama"), ...large)];
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

/** As folder_fuzz.cpp reads them: what is opened, then files by the numbers of their names. */
function folder(opened: number, files: readonly [name: number, bytes: Uint8Array][]): Buffer {
  return Buffer.concat([
    Buffer.from([opened]),
    ...files.flatMap(([name, bytes]) => [Buffer.from([name]), word(bytes.length), bytes]),
  ]);
}

function* folders(): Generator<[name: string, bytes: Uint8Array]> {
  const shape = { embedding: 32, heads: 1, keyHeads: 1, head: 32, inner: 32, layers: 1, vocabulary: 8 };
  const { metadata, tensors } = quantisedParts("Q8_0", shape);
  const half = tensors.length >> 1;
  const split = (no: number): Record<string, MetadataEntry> => ({
    "split.no": ["u32", no],
    "split.count": ["u32", 2],
    "split.tensors.count": ["u32", tensors.length],
  });
  const first = writeGguf({ ...metadata, ...split(0) }, tensors.slice(0, half));
  const second = writeGguf(split(1), tensors.slice(half));
  yield [
    "split-first",
    folder(1, [
      [8, first],
      [9, second],
    ]),
  ];
  yield [
    "split-second",
    folder(2, [
      [9, second],
      [8, first],
    ]),
  ];
  yield ["split-alone", folder(1, [[8, first]])];
  for (const family of ["qwen35", "qwen35moe"] as const) {
    const { config, tensors: stored } = paroGolden(family);
    const file = safetensors(stored);
    const described: [number, Uint8Array] = [0, Buffer.from(JSON.stringify(config))];
    // The larger one is cut behind its header, which says what its size says again.
    const most = family === "qwen35" ? file.length : 8 + Number(file.readBigUInt64LE(0)) + 4096;
    yield [`paroquant-${family}`, folder(0, [described, [1, file.subarray(0, most)]])];
  }
  const empty = safetensors(
    [],
    JSON.stringify({ t: { dtype: "F32", shape: [2 ** 31, 2 ** 31, 2], data_offsets: [0, 2 ** 62] } }),
  );
  yield [
    "bomb-safetensors",
    folder(0, [
      [0, Buffer.from('{"model_type":"qwen3_5"}')],
      [1, empty],
    ]),
  ];
  const deep = Buffer.from("[".repeat(20_000));
  yield [
    "bomb-json",
    folder(0, [
      [0, deep],
      [1, empty],
      [5, deep],
    ]),
  ];
}

const own = [
  "{% for message in messages %}<|im_start|>{{ message.role }}\n{{ message['content'] | trim }}<|im_end|>\n{% endfor %}",
  "{%- macro turn(m, i=0) -%}{{ i }}: {{ m.content.split('</think>')[-1] }}{%- endmacro -%}{{ turn(messages[0]) if messages }}",
  "{% set ns = namespace(last=none) %}{% for m in messages | selectattr('role', 'equalto', 'user') %}{% set ns.last = m %}{% endfor %}{{ ns.last.content }}",
  "{{ raise_exception('no') if messages | length > 2 else bos_token + strftime_now('%d %b %Y') }}",
  "{% for i in range(3) %}{{ loop.index0 ~ ',' if not loop.last }}{% break %}{% endfor %}{{ {'a': [1, 2.5, none]} | tojson(indent=2) }}",
];

/** Templates behind the bytes that choose a conversation; with llama.cpp's package at hand, those of real models too. */
function* template(): Generator<[name: string, bytes: Uint8Array]> {
  const head = [
    1, 3, 1, 0, 4, 104, 105, 33, 46, 1, 1, 0, 2, 1, 1, 3, 119, 104, 121, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1, 1, 0,
  ];
  const folder = join(
    import.meta.dirname,
    "../../.cache/llama-cpp/llama_cpp_python-0.3.36/vendor/llama.cpp/models/templates",
  );
  const real = existsSync(folder) ? readdirSync(folder).filter((name) => name.endsWith(".jinja")) : [];
  const texts = [...own, ...real.map((name) => readFileSync(join(folder, name), "utf8"))];
  for (const [at, text] of texts.entries())
    yield [`template-${at}`, Buffer.concat([Buffer.from(head), Buffer.from(text)])];
  yield ["reply", Buffer.from("\0\0\x01\x01\x03ab\x01\0plain <think> text </think> more")];
}

function* tokenizer(): Generator<[name: string, bytes: Uint8Array]> {
  const texts = [
    "Hello, world!  12345 it's\n\n\ttabs",
    "日本語のテキスト, \u{1F469}\u200D\u{1F467} e\u0301",
    "<|im_start|>user\n</s>",
    " ".repeat(300),
    "a".repeat(300),
  ];
  for (const [at, text] of texts.entries()) {
    for (const kind of [0, 5, 20, 40])
      yield [`text-${at}-${kind}`, Buffer.concat([Buffer.from([1, kind, 0, 1]), Buffer.from(text)])];
  }
  yield [
    "vocabulary",
    Buffer.from(
      "\0\x08\x03\x01abc\x03\x01bcd\x02\x01ab\x02\x01cd\x01\x01a\x01\x01b\x01\x01c\x01\x01d\0\0\0\0\0\0\0\0\0\0\0\0\0\0\x02\x01\x01a\x01\x01b",
    ),
  ];
}

const makers: Record<string, () => Iterable<[string, Uint8Array]>> = { gguf, folder: folders, template, tokenizer };
const [, , target = "", into = ""] = process.argv;
const maker = makers[target];
if (maker === undefined || into === "") throw new Error(`usage: make-seed.ts ${Object.keys(makers).join("|")} FOLDER`);
mkdirSync(into, { recursive: true });
for (const [name, bytes] of maker()) writeFileSync(join(into, name), bytes);
