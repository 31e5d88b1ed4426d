/** Every family with one key changed, perhaps a tensor gone: refused with a code or computed to numbers; the process lives on. */
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import fc from "fast-check";
import { afterAll, expect, it } from "vitest";
import { HalogenError } from "../../app/error.ts";
import { createNativeEngine } from "../../native/index.ts";
import { golden, goldenFamilies } from "../fixtures/architecture.ts";
import { type MetadataEntry, writeGguf } from "../fixtures/gguf-writer.ts";

const folder = mkdtempSync(join(tmpdir(), "halogen-mutation-"));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const whole = fc.oneof(fc.nat(20), fc.constantFrom(32, 48, 64, 96, 100, 128, 255, 256, 1000, 65_535, 2 ** 31 - 1));
const real = fc.constantFrom(0, 1, -1, 1e-6, 0.5, 2, 1e4, 1e30, -1e30, Number.NaN, Number.POSITIVE_INFINITY);

/** Another value of the same type. */
function changed([kind, value]: MetadataEntry): fc.Arbitrary<MetadataEntry> {
  const length = Array.isArray(value) ? value.length : 0;
  if (kind === "u32") return whole.map((each) => [kind, each]);
  if (kind === "f32") return real.map((each) => [kind, each]);
  if (kind === "bool") return fc.boolean().map((each) => [kind, each]);
  if (kind === "bool[]") return fc.array(fc.boolean(), { maxLength: length + 1 }).map((each) => [kind, each]);
  if (kind === "i32[]") return fc.array(whole, { maxLength: length + 1 }).map((each) => [kind, each]);
  return fc.constantFrom("none", "linear", "yarn", "longrope", "else").map((each) => [kind, each]);
}

it.each(goldenFamilies)("%s", async (family) => {
  const { metadata, tensors, tokens, vocabulary } = golden(family);
  const own = tensors();
  const keys = Object.keys(metadata).filter((key) => !/^(general|tokenizer)\./.test(key));
  const mutation = fc
    .constantFrom(...keys)
    .chain((key) =>
      fc.tuple(fc.constant(key), changed(metadata[key] ?? ["u32", 0]), fc.option(fc.nat(own.length - 1))),
    );
  const path = join(folder, `${family}.gguf`);
  const property = fc.asyncProperty(mutation, async ([key, entry, gone]) => {
    writeFileSync(
      path,
      writeGguf(
        { ...metadata, [key]: entry },
        own.filter((_, i) => i !== gone),
      ),
    );
    const engine = createNativeEngine({ threads: 2 });
    try {
      const { handle } = await engine.load({ path, backend: "cpu", contextLength: 64, kvType: "f32", threads: 0 });
      const scores = await engine.score(handle, tokens.subarray(0, 24), 0);
      expect(scores).toHaveLength(24 * vocabulary);
      expect(scores.every(Number.isFinite)).toBe(true);
    } catch (error) {
      if (!(error instanceof HalogenError)) throw error;
      expect(error.code).toMatch(/^(gguf|model|context)\./);
    } finally {
      await engine.close();
    }
  });
  await fc.assert(property, { numRuns: 10 });
});
