/** Every weight format in a whole model (see format-measure.ts). Its blocks are random bits, harsher than anything a quantiser writes. */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, describe, expect, it } from "vitest";
import { createNativeEngine } from "../../native/index.ts";
import { blockFormats } from "../fixtures/quantised-model.ts";
import { goldenFormats, measureFormat } from "./format-measure.ts";

/** Nats a token and share of tokens: thirty times what was seen (docs/models.md). */
const most = { kl: 1e-6, same: 1 } as const;

const folder = mkdtempSync(join(tmpdir(), "halogen-format-"));
const found = new Map<string, string[]>();
afterAll(() => {
  rmSync(folder, { recursive: true, force: true });
  const lines = [...found].map(([format, each]) => `  ${format}: ${each.join(", ")}`);
  console.log(["format: KL to the exact weights, fastest kernels and reference", ...lines].join("\n"));
});

it("covers every format that the engine computes", async () => {
  const engine = createNativeEngine({ threads: 1 });
  const { formats } = await engine.info();
  await engine.close();
  // AWQ4 stands in no GGUF file: paroquant.test.ts holds it.
  const inFiles = formats.filter((format) => format !== "AWQ4");
  expect(inFiles.sort()).toEqual(Object.keys(blockFormats).sort());
  expect(goldenFormats).toEqual(Object.keys(blockFormats));
});

describe.each(["", "reference"] as const)("kernels %j", (cpuVariant) => {
  it.each(Object.keys(blockFormats))("%s", async (format) => {
    const engine = createNativeEngine({ cpuVariant, threads: 2 });
    try {
      const { kl, same, tokens } = await measureFormat(engine, format, folder);
      found.set(format, [...(found.get(format) ?? []), `${kl.toExponential(1)} (${same} of ${tokens})`]);
      expect(kl).toBeLessThanOrEqual(most.kl);
      expect(same / tokens).toBeGreaterThanOrEqual(most.same);
    } finally {
      await engine.close();
    }
  });
});
