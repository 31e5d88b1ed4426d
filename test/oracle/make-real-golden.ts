/**
 * Makes test/fixtures/real/<name>.{json,logits}: what llama.cpp computes for a file's weights, written out as F32 by its own dequantiser, with an F32 cache
 * and without flash attention: greedy continuations with the two best of each step, and distributions along one text. Beside, how far llama.cpp on the
 * file itself is from that.
 *   node test/oracle/make-real-golden.ts gemma3|mini     (needs .cache/llama-build and the file, which `npm run bench -- peer` makes)
 */
import { execFileSync } from "node:child_process";
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { createTokenizer } from "../../app/token/tokenizer.ts";
import { describeModel } from "../bench/environment.ts";
import { apart, pack, writeDistributions } from "../fixtures/distribution.ts";
import { readVocabulary } from "../fixtures/gguf-vocabulary.ts";
import { gemma, syntheticModel } from "../fixtures/real-model.ts";
import { syntheticTokens } from "../fixtures/synthetic-moe.ts";
import { ask } from "../peer/asked.ts";
import { prompts } from "./prompts.mjs";

interface Plan {
  path: string;
  greedy: { name: string; prompt: number[]; steps: number }[];
  text: number[];
  from: number;
}

/** Beyond its window of 512 positions, which also the last prompt is. */
function gemmaPlan(): Plan {
  const path = gemma();
  const tokenizer = createTokenizer(readVocabulary(path).vocabulary);
  const encode = (text: string): number[] => tokenizer.encodePrompt([{ text, special: false }]);
  const corpus = encode(readFileSync(new URL("../fixtures/corpus.txt", import.meta.url), "utf8"));
  const chosen = ["story", "physics", "python", "numbers", "history", "japanese"];
  const short = prompts.filter(({ name }) => chosen.includes(name));
  return {
    path,
    greedy: [
      ...short.map(({ name, text }) => ({ name, prompt: encode(text), steps: 24 })),
      { name: "beyond its window", prompt: corpus.slice(0, 787), steps: 16 },
    ],
    text: corpus.slice(0, 624),
    from: 600,
  };
}

function miniPlan(): Plan {
  const tokens = (seed: number, count: number): number[] => syntheticTokens(count, 32000, seed);
  return {
    path: syntheticModel("mini"),
    greedy: [
      { name: "five tokens", prompt: tokens(1, 5), steps: 16 },
      { name: "ninety tokens", prompt: tokens(2, 90), steps: 16 },
    ],
    text: tokens(3, 200),
    from: 176,
  };
}

const plans: Record<string, () => Plan> = { gemma3: gemmaPlan, mini: miniPlan };
const name = process.argv[2] ?? "";
const plan = plans[name]?.();
if (plan === undefined) throw new Error(`usage: make-real-golden.ts ${Object.keys(plans).join("|")}`);
const program = resolve(import.meta.dirname, "../../.cache/llama-build/halogen-llama-peer");
const scratch = mkdtempSync(join(tmpdir(), "halogen-golden-"));
const plain = join(scratch, "f32.gguf");
execFileSync(program, [plan.path, "--dequantise", plain]);
const common = ["--threads", "1", "--context", "1024"];
const scores = (path: string): Float32Array => {
  const bytes = readFileSync(path);
  return new Float32Array(bytes.buffer.slice(bytes.byteOffset, bytes.byteOffset + bytes.byteLength));
};

const exact = await ask(program, [plain, ...common, "--flash", "off", "--kv", "f32"], scratch);
const greedy = [];
for (const { name: label, prompt, steps } of plan.greedy) {
  greedy.push({ name: label, prompt, ...(await exact.path(prompt, steps)) });
}
const truth = await exact.score(plan.text, plan.from);
const packed = pack(scores(truth.path), truth.width);
const { version } = exact.introduction;
await exact.close();
const peer = [];
for (const flash of ["on", "off"]) {
  const quantised = await ask(program, [plan.path, ...common, "--flash", flash], scratch);
  peer.push({ flash, ...apart(packed, scores((await quantised.score(plan.text, plan.from)).path)) });
  await quantised.close();
}
rmSync(scratch, { recursive: true });
const folder = join(import.meta.dirname, "../fixtures/real");
mkdirSync(folder, { recursive: true });
writeDistributions(join(folder, `${name}.logits`), packed);
const { file, sha256 } = describeModel(plan.path);
const document = {
  model: { file, sha256 },
  made: { by: "test/oracle/make-real-golden.ts", with: version },
  greedy,
  text: plan.text,
  from: plan.from,
  peer,
};
const json = JSON.stringify(document, null, 1).replace(
  /\[\s+([-\d.,\s]+?)\s+\]/g,
  (_, list: string) => `[${list.replace(/\s+/g, " ")}]`,
);
writeFileSync(join(folder, `${name}.json`), `${json}\n`);
console.log(JSON.stringify(peer));
