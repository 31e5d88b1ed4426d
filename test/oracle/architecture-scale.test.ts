/**
 * Numbers that stand beside matrices (`<base>.scale`; NVFP4 files have them everywhere) count once, wherever they stand: models in NVFP4 with
 * such numbers against the reference kernels on what both together stand for, written out as F32. A control with each number squared, which is
 * what counting twice would give, must be far off; one with none of them too.
 */
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, describe, expect, it } from "vitest";
import { createNativeEngine } from "../../native/index.ts";
import { floats, golden, made, portableValues } from "../fixtures/architecture.ts";
import { type MetadataEntry, type WrittenTensor, writeGguf } from "../fixtures/gguf-writer.ts";
import { nvfp4 } from "../fixtures/quantise.ts";

/** KL to the exact weights, nats per token: what rounded activations cost, and what a wrong number costs at the least. */
const right = 5e-3;
const wrong = 0.05;

/** Experts that are narrower than a block of 64 get inner rows of zeros: gelu(0) * 0 adds nothing. */
function widened(own: WrittenTensor[]): WrittenTensor[] {
  return own.map((tensor) => {
    const [columns = 0, rows = 0, count = 0] = tensor.ne;
    if (/ffn_gate_up_exps\.weight$/.test(tensor.name) && rows < 128) {
      const [half, to] = [rows / 2, new Float32Array(columns * 128 * count)];
      for (let part = 0; part < 2 * count; part += 1) {
        to.set(floats(tensor).subarray(part * half * columns, (part + 1) * half * columns), part * 64 * columns);
      }
      return made(tensor.name, [columns, 128, count], to);
    }
    if (/ffn_down_exps\.weight$/.test(tensor.name) && columns < 64) {
      const to = new Float32Array(64 * rows * count);
      for (let row = 0; row < rows * count; row += 1) {
        to.set(floats(tensor).subarray(row * columns, (row + 1) * columns), row * 64);
      }
      return made(tensor.name, [64, rows, count], to);
    }
    return tensor;
  });
}

interface Case {
  family: string;
  form?: (own: WrittenTensor[]) => WrittenTensor[];
  more?: Record<string, MetadataEntry>;
}

const cases: Case[] = [
  { family: "llama" },
  { family: "qwen2" },
  { family: "mixtral" },
  { family: "qwen35moe" },
  { family: "gemma4-per-layer" },
  { family: "gemma4-moe", form: widened, more: { "gemma4.expert_feed_forward_length": ["u32", 64] } },
];

/** What makers quantise: no vectors, routers or convolutions; rows of whole blocks. */
const quantises = ({ name, ne }: WrittenTensor): boolean =>
  ne.length > 1 && name.endsWith(".weight") && !/ffn_gate_inp|ssm_conv1d/.test(name);

interface Scaled {
  tensor: WrittenTensor;
  /** One a matrix. */
  scale: Float32Array;
  /** As the file holds it, without the scale, and its values. */
  stored: WrittenTensor;
  values: Float32Array;
}

function scaled(tensor: WrittenTensor): Scaled {
  const count = tensor.ne[2] ?? 1;
  const scale = portableValues(`${tensor.name} beside`, count, 2, 1.2);
  const size = floats(tensor).length / count;
  const divided = floats(tensor).map((value, i) => value / (scale[Math.floor(i / size)] ?? Number.NaN));
  if ((tensor.ne[0] ?? 0) % 64 !== 0) {
    return { tensor, scale, stored: made(tensor.name, tensor.ne, divided), values: divided };
  }
  const { type, bytes, values } = nvfp4(divided);
  return { tensor, scale, stored: { ...tensor, type, bytes }, values };
}

function build({ family, form = (own) => own, more = {} }: Case) {
  const { metadata, tensors } = golden(family);
  const own = form(tensors());
  const each = new Map(own.filter(quantises).map((tensor) => [tensor.name, scaled(tensor)]));
  const beside = (name: string) => name.replace(/weight$/, "scale");
  // A file may have such numbers of its own (gemma4's experts); the makers' converter multiplies the two.
  const before = new Map(own.map((tensor) => [tensor.name, tensor]));
  const already = new Set([...each.keys()].map(beside).filter((name) => before.has(name)));
  const product = (name: string, scale: Float32Array): Float32Array => {
    const first = before.get(beside(name));
    return first === undefined ? scale : scale.map((value, i) => value * (floats(first)[i] ?? Number.NaN));
  };
  const rest = own.filter(({ name }) => !each.has(name) && !already.has(name));
  const quantised = (power: number) =>
    writeGguf({ ...metadata, ...more }, [
      ...rest,
      ...[...each].flatMap(([name, { stored, scale }]) => [
        stored,
        made(
          beside(name),
          [scale.length],
          product(name, scale).map((value) => value ** power),
        ),
        // How the makers' own kernels round what comes in: no factor of the result.
        made(name.replace(/weight$/, "input_scale"), [scale.length], new Float32Array(scale.length).fill(77)),
      ]),
    ]);
  const exact = [...each].map(([name, { tensor, scale, values }]) => {
    const all = product(name, scale);
    const size = values.length / all.length;
    return made(
      name,
      tensor.ne,
      values.map((value, i) => value * (all[Math.floor(i / size)] ?? Number.NaN)),
    );
  });
  return { quantised, exact: writeGguf({ ...metadata, ...more }, [...rest, ...exact]), count: each.size, already };
}

const folder = mkdtempSync(join(tmpdir(), "halogen-scale-"));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

async function scores(file: Buffer, tokens: Int32Array, cpuVariant: "" | "reference"): Promise<Float32Array> {
  const path = join(folder, "model.gguf");
  writeFileSync(path, file);
  const engine = createNativeEngine({ cpuVariant, threads: 2 });
  try {
    const { handle } = await engine.load({ path, backend: "cpu", contextLength: 256, kvType: "f32", threads: 0 });
    return await engine.score(handle, tokens, 0);
  } finally {
    await engine.close();
  }
}

/** Of log probabilities, nats per token. */
function divergence(exact: Float32Array, actual: Float32Array, tokens: number): number {
  return (
    exact.reduce(
      (sum, log, i) => sum + (log === -Infinity ? 0 : Math.exp(log) * (log - (actual[i] ?? Number.NaN))),
      0,
    ) / tokens
  );
}

describe("scales beside matrices", () => {
  it.each(cases)("$family", async (which) => {
    const { tokens } = golden(which.family);
    const { quantised, exact, count, already } = build(which);
    expect(count).toBeGreaterThan(5);
    expect(already.size > 0).toBe(which.family === "gemma4-moe");
    const wanted = await scores(exact, tokens, "reference");
    const off = async (power: number, cpuVariant: "" | "reference") =>
      divergence(wanted, await scores(quantised(power), tokens, cpuVariant), tokens.length);
    expect(await off(1, "reference")).toBeLessThan(1e-5);
    expect(await off(1, "")).toBeLessThan(right);
    expect(await off(2, "")).toBeGreaterThan(wrong);
    expect(await off(0, "")).toBeGreaterThan(wrong);
  });
});

describe("a scale with nothing to multiply", () => {
  const one = (name: string, count = 1) => made(name, [count], new Float32Array(count).fill(2));
  const refused: [string, string, WrittenTensor][] = [
    ["of another size than its matrix has parts", "llama", one("blk.0.attn_q.scale", 3)],
    ["of a norm", "llama", one("blk.1.attn_norm.scale")],
    ["of a convolution", "qwen35moe", one("blk.0.ssm_conv1d.scale")],
    ["of a head that is the embedding", "gemma3", one("output.scale")],
  ];
  it.each(refused)("%s is refused by name", async (_, family, tensor) => {
    const path = join(folder, "refused.gguf");
    const { metadata, tensors } = golden(family);
    writeFileSync(path, writeGguf(metadata, [...tensors(), tensor]));
    const engine = createNativeEngine({ threads: 1 });
    try {
      const options = { path, backend: "cpu", contextLength: 256, kvType: "f32", threads: 0 } as const;
      await expect(engine.plan(options)).rejects.toMatchObject({
        code: "model.bad_value",
        message: expect.stringContaining(`"${tensor.name}"`),
      });
    } finally {
      await engine.close();
    }
  });
});
