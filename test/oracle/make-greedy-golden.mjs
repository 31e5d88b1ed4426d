// Makes test/fixtures/greedy-smollm2.json: llama.cpp's greedy continuation of each prompt, with its two best tokens at every step, computed as
// exactly as llama.cpp can: on the starter's weights written out as F32, with an F32 cache and without flash attention. And, for comparison, what the
// same llama.cpp says along that path on the quantised file itself.
//   node test/oracle/make-greedy-golden.mjs     (needs test/peer's packages, which `npm test` installs)
import { createHash } from "node:crypto";
import { readFileSync, writeFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { openPeer } from "../peer/llama.ts";
import { dequantise } from "./dequantise.mjs";
import { prompts } from "./prompts.mjs";

const steps = 64;
const exact = { flashAttention: false, experimentalKvCacheKeyType: "F32", experimentalKvCacheValueType: "F32" };
const variants = [
  { name: "llama.cpp on the Q4_1 file", options: {} },
  { name: "llama.cpp on the Q4_1 file, without flash attention", options: { flashAttention: false } },
];
const here = (path) => fileURLToPath(new URL(path, import.meta.url));
const path = process.env.HALOGEN_TEST_MODEL ?? here("../../.cache/model/SmolLM2-135M-Instruct.Q4_1.gguf");
const round = (value) => Math.round(value * 1e4) / 1e4;
// One thread: the numbers are the same with more, and on a busy machine they wait for each other.
const common = { contextSize: 512, threads: 1 };

function twoBest(probabilities) {
  const found = { best: -1, second: -1, p: -1, q: -1 };
  for (const [token, value] of probabilities) {
    if (value > found.p) Object.assign(found, { second: found.best, q: found.p, best: token, p: value });
    else if (value > found.q) Object.assign(found, { second: token, q: value });
  }
  return found;
}

/** Per step: the id, the second best id, and how far its log probability lies behind. */
async function follow(model, tokens) {
  const context = await model.createContext({ ...common, ...exact });
  const ids = [];
  const seconds = [];
  const gaps = [];
  const stream = context
    .getSequence()
    .evaluateWithMetadata(tokens, { probabilities: true }, { temperature: 0, yieldEogToken: true });
  for await (const { token, probabilities } of stream) {
    const { best, second, p, q } = twoBest(probabilities);
    if (best !== token) throw new Error(`not greedy: ${token} was chosen, ${best} is likelier`);
    ids.push(token);
    seconds.push(second);
    gaps.push(round(Math.log(p / q)));
    if (ids.length === steps) break;
  }
  await context.dispose();
  return { ids, seconds, gaps };
}

/** Along a given path: the best token of each step, and the lead of the path's token over its second best. */
async function along(model, { prompt, ids, seconds }, options) {
  const context = await model.createContext({ ...common, ...options });
  const ask = { generateNext: { probabilities: true, options: { temperature: 0 } } };
  const input = [...prompt.slice(0, -1), [prompt.at(-1), ask], ...ids.slice(0, -1).map((id) => [id, ask])];
  const output = (await context.getSequence().controlledEvaluate(input)).slice(prompt.length - 1);
  await context.dispose();
  return output.map(({ next: { probabilities } }, step) => ({
    best: twoBest(probabilities).best,
    lead: Math.log(probabilities.get(ids[step]) / probabilities.get(seconds[step])),
  }));
}

const written = here("../../.cache/starter-f32.gguf");
dequantise(path, written);
const exactPeer = await openPeer(written);
const peer = await openPeer(path);
const rows = [];
const own = variants.map(() => ({ same: 0, difference: 0 }));
for (const { name, text } of prompts) {
  const prompt = [...peer.model.tokenize(text, true)];
  const row = { name, text, prompt, ...(await follow(exactPeer.model, prompt)) };
  const leaves = [];
  for (const [at, { options }] of variants.entries()) {
    const found = await along(peer.model, row, options);
    leaves.push(found.findIndex(({ best }, step) => best !== row.ids[step]));
    own[at].same += found.filter(({ best }, step) => best === row.ids[step]).length;
    own[at].difference += found.reduce((sum, { lead }, step) => sum + Math.abs(lead - row.gaps[step]), 0);
  }
  rows.push({ ...row, leaves });
  console.log(`${name}: llama.cpp on the quantised file leaves at ${leaves.join(", ")}`);
}
const all = rows.length * steps;
const document = {
  model: {
    file: "SmolLM2-135M-Instruct.Q4_1.gguf",
    sha256: createHash("sha256").update(readFileSync(path)).digest("hex"),
  },
  made: { by: "test/oracle/make-greedy-golden.mjs", peer: peer.version, processor: peer.systemInfo },
  steps,
  variants: variants.map(({ name }, at) => ({
    name,
    sameBest: round(own[at].same / all),
    meanDifference: round(own[at].difference / all),
  })),
  rows,
};
writeFileSync(
  here("../fixtures/greedy-smollm2.json"),
  `${JSON.stringify(document, null, 1).replace(/\[\s+([-\d.,\s]+?)\s+\]/g, (_, list) => `[${list.replace(/\s+/g, " ")}]`)}\n`,
);
console.log(JSON.stringify(document.variants));
await peer.close();
await exactPeer.close();
