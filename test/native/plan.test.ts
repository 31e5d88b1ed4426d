/** What a plan says of models in whose files rows or factors wait to be chosen. */
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, expect, test } from "vitest";
import type { MemoryPlan } from "../../app/engine.ts";
import { createNativeEngine } from "../../native/index.ts";
import { golden } from "../fixtures/architecture.ts";
import { loadOptions } from "../fixtures/engine-request.ts";
import { quantisers } from "../fixtures/quantise.ts";

const folder = mkdtempSync(join(tmpdir(), "halogen-plan-"));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

async function planned(file: Buffer, contextLength: number): Promise<{ plan: MemoryPlan; loaded: MemoryPlan }> {
  const path = join(folder, "model.gguf");
  writeFileSync(path, file);
  const engine = createNativeEngine({ threads: 1 });
  try {
    const options = loadOptions(path, { contextLength });
    const plan = await engine.plan(options);
    const loaded = await engine.load(options);
    const used = (await engine.memory()).find((pool) => pool.name === "weights")?.used;
    expect(used).toBe(plan.weights);
    return { plan, loaded: loaded.plan };
  } finally {
    await engine.close();
  }
}

test("the rows of each layer's own embedding stay in the file, and a pass holds those of its tokens", async () => {
  const { gguf } = golden("gemma4-per-layer");
  const name = "per_layer_token_embd.weight";
  let rowBytes = 0;
  const halved = gguf((tensor) => {
    if (tensor.name !== name) return tensor;
    rowBytes = 4 * (tensor.ne[0] ?? 0);
    const { bytes } = tensor;
    const half = quantisers.F16(new Float32Array(bytes.buffer, bytes.byteOffset, bytes.byteLength / 4));
    return { ...tensor, type: half.type, bytes: half.bytes };
  });
  const whole = (await planned(gguf(), 256)).plan;
  const { plan } = await planned(halved, 256);
  // In memory it would be half as large.
  expect(plan.weights).toBe(whole.weights);
  const stride = (bytes: number) => Math.ceil(bytes / 64) * 64;
  expect(whole.scratch - plan.scratch).toBe(256 * (stride(rowBytes) - stride(rowBytes / 2)));
});

test("the reason says which of two sets of rope factors the context chose", async () => {
  const file = golden("phi3-long").gguf();
  const { plan: within, loaded } = await planned(file, 64);
  expect(within.reason).toContain("the model's short rope factors, because the context is within the 64 tokens");
  expect(loaded.reason).toBe(within.reason);
  const { plan: beyond } = await planned(file, 65);
  expect(beyond.reason).toContain("the model's long rope factors, because the context is more than the 64 tokens");
  const { plan: other } = await planned(golden("llama").gguf(), 64);
  expect(other.reason).not.toContain("rope");
});
