/** What must hold between two files, where no golden has the key that makes the difference. */
import { expect, it } from "vitest";
import { floats, golden, made } from "../fixtures/architecture.ts";
import { scoresOf } from "../fixtures/architecture-score.ts";
import { type MetadataEntry, type WrittenTensor, writeGguf } from "../fixtures/gguf-writer.ts";

function furthest(one: Float32Array, other: Float32Array): number {
  expect(one).toHaveLength(other.length);
  return one.reduce((most, value, i) => Math.max(most, Math.abs(value - (other[i] ?? Number.NaN))), 0);
}

it("phi3: a layer with a window sees no more than the window", async () => {
  const { metadata, tensors, tokens, vocabulary } = golden("phi3");
  const window = 12;
  const scores = (part: Int32Array, more: Record<string, MetadataEntry>) =>
    scoresOf(part, writeGguf({ ...metadata, "phi3.block_count": ["u32", 1], ...more }, tensors()));
  const narrow = await scores(tokens, { "phi3.attention.sliding_window": ["u32", window] });
  const wide = await scores(tokens, {});
  for (const last of [window - 1, window, 20, tokens.length - 1]) {
    const row = (of: Float32Array, at: number) => of.subarray(at * vocabulary, (at + 1) * vocabulary);
    // Rope speaks of distances only, so what is seen may as well stand at the beginning.
    const seen = tokens.slice(Math.max(0, last - window + 1), last + 1);
    const alone = row(await scores(seen, {}), seen.length - 1);
    expect(furthest(row(narrow, last), alone), `token ${last}`).toBeLessThan(1e-4);
    if (last >= window) expect(furthest(row(wide, last), alone), `token ${last}`).toBeGreaterThan(1e-2);
  }
});

it("gemma3: logits are capped where the file says so", async () => {
  const { metadata, tensors, tokens, logits, vocabulary } = golden("gemma3");
  const cap = 3;
  const scores = await scoresOf(
    tokens,
    writeGguf({ ...metadata, "gemma3.final_logit_softcapping": ["f32", cap] }, tensors()),
  );
  const expected = logits.map((logit) => cap * Math.tanh(logit / cap));
  for (let at = 0; at < expected.length; at += vocabulary) {
    const row = expected.subarray(at, at + vocabulary);
    const norm = Math.log(row.reduce((sum, logit) => sum + Math.exp(logit), 0));
    for (const [i, logit] of row.entries()) row[i] = logit - norm;
  }
  expect(furthest(scores, expected)).toBeLessThan(1e-3);
});

it("gemma3: the model of 62 layers scales its queries by the width of the model per head", async () => {
  const { metadata, tensors, tokens } = golden("gemma3");
  const number = (key: string): number => Number(metadata[`gemma3.${key}`]?.[1]);
  const own = number("block_count");
  const given = tensors();
  /** The golden's layers again and again; those from `real` on add nothing. Queries are longer by `factor`. */
  const deep = (layers: number, real: number, factor: number): Buffer => {
    const rest = given.filter(({ name }) => !name.startsWith("blk."));
    const blocks = Array.from({ length: layers }, (_, layer) =>
      given.flatMap((tensor): WrittenTensor[] => {
        const [, from, part = ""] = /^blk\.(\d+)\.(.*)$/.exec(tensor.name) ?? [];
        if (Number(from) !== layer % own) return [];
        const values = floats(tensor);
        const idle = layer >= real && /post_.*norm/.test(part);
        const scale = idle ? 0 : part === "attn_q_norm.weight" ? factor : 1;
        return [
          made(
            `blk.${layer}.${part}`,
            [...tensor.ne],
            values.map((value) => value * scale),
          ),
        ];
      }),
    );
    return writeGguf({ ...metadata, "gemma3.block_count": ["u32", layers] }, [...rest, ...blocks.flat()]);
  };
  const perHead = number("embedding_length") / number("attention.head_count");
  const factor = Math.sqrt(number("attention.key_length") / perHead);
  expect(factor).not.toBeCloseTo(1, 2);
  const few = tokens.slice(0, 24);
  const scores = await scoresOf(few, deep(62, 62, 1));
  expect(furthest(scores, await scoresOf(few, deep(63, 62, factor)))).toBeLessThan(1e-3);
  expect(furthest(scores, await scoresOf(few, deep(63, 62, 1)))).toBeGreaterThan(1e-2);
});
