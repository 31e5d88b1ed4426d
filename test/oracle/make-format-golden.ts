/**
 * Makes test/fixtures/format-logits.{json,bin}: for every weight format the distributions that llama.cpp gives for a tiny llama of random blocks, computed
 * on the weights that its own dequantiser makes of them, with an F32 cache and without flash attention.
 *   node test/oracle/make-format-golden.ts     (needs .cache/llama-build, which `npm run bench -- peer` makes)
 */
import { execFileSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { blockFormats, evenShape, quantisedLlama } from "../fixtures/quantised-model.ts";
import { namedGenerator } from "../fixtures/random-block.ts";
import { ask } from "../peer/asked.ts";

const program = resolve(import.meta.dirname, "../../.cache/llama-build/halogen-llama-peer");
const exact = ["--threads", "1", "--context", "256", "--flash", "off", "--kv", "f32"];
const folder = mkdtempSync(join(tmpdir(), "halogen-golden-"));
const next = namedGenerator("format tokens");
const tokens = Array.from({ length: 24 }, () => next() % evenShape.vocabulary);
const rows: Buffer[] = [];
let version = "";
for (const format of Object.keys(blockFormats)) {
  const [model, plain] = [join(folder, "q.gguf"), join(folder, "f.gguf")];
  writeFileSync(model, quantisedLlama(format));
  execFileSync(program, [model, "--dequantise", plain]);
  const peer = await ask(program, [plain, ...exact], folder);
  version = peer.introduction.version;
  rows.push(readFileSync((await peer.score(tokens, 0)).path));
  await peer.close();
}
const name = join(import.meta.dirname, "../fixtures/format-logits");
writeFileSync(`${name}.bin`, Buffer.concat(rows));
const made = { by: "test/oracle/make-format-golden.ts", with: version };
writeFileSync(`${name}.json`, `${JSON.stringify({ made, formats: Object.keys(blockFormats), tokens })}\n`);
rmSync(folder, { recursive: true });
