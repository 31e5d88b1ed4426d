/** The same model in another of the forms that files take: joined or apart, scaled, with more keys. Its logits are the golden's. */
import { describe, expect, it } from "vitest";
import { floats, type Golden, golden, made, portableValues } from "../fixtures/architecture.ts";
import { scoresOf } from "../fixtures/architecture-score.ts";
import { type MetadataEntry, type WrittenTensor, writeGguf } from "../fixtures/gguf-writer.ts";

interface Form {
  what: string;
  family: string;
  /** The architecture that the file names, where it is another. */
  as?: string;
  tensors?: (own: WrittenTensor[]) => WrittenTensor[];
  more?: Record<string, MetadataEntry>;
}

/** Query, key and value of each block in one tensor. */
function joinProjections(own: WrittenTensor[]): WrittenTensor[] {
  const parts = new Map<string, WrittenTensor[]>();
  const rest = own.filter((tensor) => {
    const [, block, kind] = /^(blk\.\d+\.attn_)[qkv]\.(weight|bias)$/.exec(tensor.name) ?? [];
    if (block === undefined) return true;
    const name = `${block}qkv.${kind}`;
    parts.set(name, [...(parts.get(name) ?? []), tensor]);
    return false;
  });
  const joined = [...parts].map(([name, each]) => {
    const bytes = new Uint8Array(Buffer.concat(each.map((part) => part.bytes)));
    const last = each.reduce((sum, part) => sum + (part.ne.at(-1) ?? 0), 0);
    return { name, ne: [...(each[0]?.ne.slice(0, -1) ?? []), last], type: 0, bytes };
  });
  return [...rest, ...joined];
}

/** Gate and up of the experts in tensors of their own. */
function partExperts(own: WrittenTensor[]): WrittenTensor[] {
  return own.flatMap((tensor) => {
    if (!tensor.name.includes("ffn_gate_up_exps")) return [tensor];
    const [columns = 0, rows = 0, count = 0] = tensor.ne;
    const values = floats(tensor);
    const half = (rows / 2) * columns;
    return ["gate", "up"].map((part, which) => {
      const to = new Float32Array(half * count);
      for (let e = 0; e < count; e += 1) {
        const from = (2 * e + which) * half;
        to.set(values.subarray(from, from + half), e * half);
      }
      return made(tensor.name.replace("gate_up", part), [columns, rows / 2, count], to);
    });
  });
}

/** A tensor for each expert, as in the first Mixtral files. */
function aloneExperts(own: WrittenTensor[]): WrittenTensor[] {
  return own.flatMap((tensor) => {
    const [, base] = /^(blk\.\d+\.ffn_(?:gate|up|down))_exps\.weight$/.exec(tensor.name) ?? [];
    if (base === undefined) return [tensor];
    const [columns = 0, rows = 0, count = 0] = tensor.ne;
    const size = columns * rows;
    return Array.from({ length: count }, (_, e) =>
      made(`${base}.${e}.weight`, [columns, rows], floats(tensor).slice(e * size, (e + 1) * size)),
    );
  });
}

/** Rows of each head's rotated part in the order of halves instead of pairs. */
function inHalves(headDim: number, rotated: number) {
  return (own: WrittenTensor[]): WrittenTensor[] =>
    own.map((tensor) => {
      if (!/attn_[qk]\.(weight|bias)$/.test(tensor.name)) return tensor;
      const columns = tensor.ne.length > 1 ? (tensor.ne[0] ?? 1) : 1;
      const values = floats(tensor);
      const to = new Float32Array(values.length);
      for (let row = 0; row < values.length / columns; row += 1) {
        const at = row % headDim;
        const place = at >= rotated ? at : at % 2 === 0 ? at / 2 : rotated / 2 + (at - 1) / 2;
        to.set(values.subarray(row * columns, (row + 1) * columns), (row - at + place) * columns);
      }
      return made(tensor.name, tensor.ne, to);
    });
}

/** Each matrix a quarter of itself, and a 4 beside it (one an expert where there are experts). */
function scaled(own: WrittenTensor[]): WrittenTensor[] {
  return own.flatMap((tensor) => {
    if (!/^blk\..*(attn_(q|k|v|output)|ffn_(gate|up|down)(_exps)?)\.weight$/.test(tensor.name)) return [tensor];
    const count = tensor.ne[2] ?? 1;
    const quarter = floats(tensor).map((value) => value / 4);
    return [
      made(tensor.name, tensor.ne, quarter),
      made(tensor.name.replace(/weight$/, "scale"), [count], new Float32Array(count).fill(4)),
    ];
  });
}

function untied(own: WrittenTensor[]): WrittenTensor[] {
  const embedding = own.find((tensor) => tensor.name === "token_embd.weight");
  if (embedding === undefined) throw new Error("no embedding");
  return [...own, { ...embedding, name: "output.weight" }];
}

/** Layers that read another's keys and values may still hold tensors for their own. */
const leftOver = (own: WrittenTensor[]): WrittenTensor[] => [
  ...own,
  made("blk.8.attn_k.weight", [64, 64], portableValues("left over", 64 * 64, 0, 1)),
];

const sections = (as: string, each: number[]): Record<string, MetadataEntry> => ({
  [`${as}.rope.dimension_sections`]: ["i32[]", each],
});

const forms: Form[] = [
  { what: "the text of a vision model", family: "qwen2", as: "qwen2vl", more: sections("qwen2vl", [2, 3, 3, 0]) },
  { what: "the text of a vision model", family: "qwen3", as: "qwen3vl", more: sections("qwen3vl", [6, 5, 5, 0]) },
  {
    what: "the text of a vision model",
    family: "qwen3moe",
    as: "qwen3vlmoe",
    more: sections("qwen3vlmoe", [6, 5, 5, 0]),
  },
  { what: "a tensor for each expert", family: "mixtral", tensors: aloneExperts },
  { what: "projections and their biases joined", family: "qwen2", tensors: joinProjections },
  { what: "projections joined, with norms of the heads", family: "qwen3", tensors: joinProjections },
  { what: "experts' gate and up apart", family: "gemma4-moe", tensors: partExperts },
  { what: "a head that is the embedding, written out", family: "llama", tensors: untied },
  {
    what: "positions of several parts, rows in halves",
    family: "glm4",
    tensors: inHalves(16, 8),
    more: { "glm4.rope.dimension_sections": ["i32[]", [2, 1, 1, 0]] },
  },
  { what: "scales beside the matrices", family: "llama", tensors: scaled },
  { what: "scales beside the experts", family: "qwen3moe", tensors: scaled },
  {
    what: "a softmax over the chosen experts",
    family: "qwen3moe",
    more: { "qwen3moe.expert_gating_func": ["u32", 3] },
  },
  { what: "keys that no layer reads", family: "gemma4-per-layer", tensors: leftOver },
  {
    what: "which layers slide, in numbers",
    family: "gemma4-moe",
    more: { "gemma4.attention.sliding_window_pattern": ["i32[]", [1, 1, 0, 1, 1, 0]] },
  },
  {
    what: "which layers are recurrent, in numbers",
    family: "qwen35moe",
    more: { "qwen35moe.attention.recurrent_layers": ["i32[]", [1, 1, 1, 0]] },
  },
];

async function furthest({ tokens, logits, vocabulary }: Golden, file: Buffer): Promise<number> {
  const scores = await scoresOf(tokens, file);
  expect(scores).toHaveLength(logits.length);
  let most = 0;
  for (let at = 0; at < logits.length; at += vocabulary) {
    const row = logits.subarray(at, at + vocabulary);
    const peak = Math.max(...row);
    const norm = peak + Math.log(row.reduce((sum, logit) => sum + Math.exp(logit - peak), 0));
    for (const [i, logit] of row.entries()) {
      const off = Math.abs(logit - norm - (scores[at + i] ?? Number.NaN));
      if (!(off <= most)) most = off;
    }
  }
  return most;
}

describe("another form of the same model", () => {
  it.each(forms)("$family: $what", async ({ family, as, tensors = (own) => own, more = {} }) => {
    const expected = golden(family);
    const metadata = Object.fromEntries(
      Object.entries(expected.metadata).map(([key, entry]) => {
        if (as === undefined) return [key, entry];
        if (key === "general.architecture") return [key, ["string", as] as const];
        return [key.replace(`${expected.architecture}.`, `${as}.`), entry];
      }),
    );
    const own = expected.tensors();
    const changed = tensors(own);
    // Nothing changed would be the golden's own test again.
    expect(Object.keys(more).length > 0 || changed.some((tensor) => !own.includes(tensor))).toBe(true);
    const file = writeGguf({ ...metadata, ...more }, changed);
    expect(await furthest(expected, file)).toBeLessThan(1e-3);
  });

  it("gemma3: no window, where no layer slides", async () => {
    const { metadata, tensors, tokens } = golden("gemma3");
    const window = "gemma3.attention.sliding_window";
    const every: Record<string, MetadataEntry> = { ...metadata, [`${window}_pattern`]: ["u32", 1] };
    const { [window]: named, [`${window}_pattern`]: _, ...without } = metadata;
    expect(named).toBeDefined();
    const logits = await scoresOf(tokens, writeGguf(every, tensors()));
    expect(await scoresOf(tokens, writeGguf(without, tensors()))).toEqual(logits);
    // The window does count in the golden's own file.
    expect(await scoresOf(tokens, writeGguf(metadata, tensors()))).not.toEqual(logits);
  });

  it("llama: a linear factor under its old key", async () => {
    const { metadata, tensors, tokens } = golden("llama");
    const scores = (more: Record<string, MetadataEntry>) =>
      scoresOf(tokens, writeGguf({ ...metadata, ...more }, tensors()));
    const old = await scores({ "llama.rope.scale_linear": ["f32", 4] });
    expect(old).toEqual(
      await scores({ "llama.rope.scaling.type": ["string", "linear"], "llama.rope.scaling.factor": ["f32", 4] }),
    );
    expect(old).not.toEqual(await scores({}));
  });
});
