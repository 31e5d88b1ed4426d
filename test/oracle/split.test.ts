/** The starter model cut into three files gives the tokens, the plan and the vocabulary of the one file, from each of its parts. */
import { mkdtempSync, rmSync, statSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { createNativeEngine } from "../../native/index.ts";
import { readAll } from "../fixtures/engine-contract.ts";
import { generateRequest, loadOptions } from "../fixtures/engine-request.ts";
import { splitGguf } from "../fixtures/gguf-split.ts";
import { starterModel, storyPrompt } from "../fixtures/starter-model.ts";

const folder = mkdtempSync(join(tmpdir(), "halogen-split-"));
const engine = createNativeEngine();
let parts: string[] = [];

beforeAll(() => {
  parts = splitGguf(starterModel(), folder, "starter", 3);
});
afterAll(async () => {
  await engine.close();
  rmSync(folder, { recursive: true, force: true });
});

async function greedy(path: string): Promise<number[]> {
  const { handle } = await engine.load(loadOptions(path, { contextLength: 512 }));
  const ids = await readAll(engine.generate(generateRequest(handle, storyPrompt, { maxTokens: 24 })));
  await engine.unload(handle);
  return ids;
}

describe("a split starter model", () => {
  it("answers as the whole one, whichever part is named", async () => {
    const expected = await greedy(starterModel());
    expect(expected).toHaveLength(24);
    for (const part of parts) expect(await greedy(part)).toEqual(expected);
  });

  it("is inspected, planned and tokenised as the whole one", async () => {
    const whole = await engine.inspect(starterModel());
    const bytes = parts.reduce((sum, part) => sum + statSync(part).size, 0);
    const plan = await engine.plan(loadOptions(starterModel()));
    const vocabulary = await engine.vocabulary(starterModel());
    for (const part of parts) {
      const { metadata, ...rest } = await engine.inspect(part);
      expect(rest).toEqual({ ...whole, path: part, bytes, metadata: undefined });
      expect(metadata).toMatchObject(whole.metadata);
      expect(await engine.plan(loadOptions(part))).toMatchObject({ total: plan.total, weights: plan.weights });
      expect(await engine.vocabulary(part)).toEqual(vocabulary);
    }
  });
});
