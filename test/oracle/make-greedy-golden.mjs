// Makes test/fixtures/greedy-smollm2.json: llama.cpp's greedy continuation of each prompt, with its two best tokens at every step.
//   node test/oracle/make-greedy-golden.mjs     (needs test/peer's packages, which `npm test` installs)
import { createHash } from "node:crypto";
import { readFileSync, writeFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { openPeer } from "../peer/llama.mjs";
import { prompts } from "./prompts.mjs";

const steps = 64;
const here = (path) => fileURLToPath(new URL(path, import.meta.url));
const path = process.env.HALOGEN_TEST_MODEL ?? here("../../.cache/model/SmolLM2-135M-Instruct.Q4_1.gguf");
const round = (value) => Math.round(value * 1e4) / 1e4;

/** Per step: the id, the second best id, and how far its log probability lies behind. */
async function follow(sequence, tokens) {
  const ids = [];
  const seconds = [];
  const gaps = [];
  const stream = sequence.evaluateWithMetadata(
    tokens,
    { probabilities: true },
    { temperature: 0, yieldEogToken: true },
  );
  for await (const { token, probabilities } of stream) {
    const [[best, first], [second, next]] = [...probabilities].sort((a, b) => b[1] - a[1]);
    if (best !== token) throw new Error(`not greedy: ${token} was chosen, ${best} is likelier`);
    ids.push(token);
    seconds.push(second);
    gaps.push(round(Math.log(first / next)));
    if (ids.length === steps) break;
  }
  return { ids, seconds, gaps };
}

async function answers(peer, options) {
  const found = [];
  for (const { name, text } of prompts) {
    // One thread: the numbers are the same with more, and on a busy machine they wait for each other.
    const context = await peer.model.createContext({ contextSize: 1024, threads: 1, ...options });
    const tokens = peer.model.tokenize(text, true);
    found.push({ name, text, prompt: [...tokens], ...(await follow(context.getSequence(), tokens)) });
    await context.dispose();
  }
  return found;
}

const peer = await openPeer(path);
const golden = await answers(peer, {});
// How far llama.cpp agrees with itself when only its attention is computed another way: the measure for everyone else's differences.
const other = await answers(peer, { flashAttention: false });
const rows = golden.map((row, i) => {
  const at = row.ids.findIndex((id, step) => id !== other[i].ids[step]);
  return { ...row, selfDifference: at < 0 ? null : { step: at, gap: row.gaps[at] } };
});
const document = {
  model: {
    file: "SmolLM2-135M-Instruct.Q4_1.gguf",
    sha256: createHash("sha256").update(readFileSync(path)).digest("hex"),
  },
  made: { by: "test/oracle/make-greedy-golden.mjs", peer: peer.version, processor: peer.systemInfo },
  steps,
  rows,
};
writeFileSync(
  here("../fixtures/greedy-smollm2.json"),
  `${JSON.stringify(document, null, 1).replace(/\[\s+([-\d.,\s]+?)\s+\]/g, (_, list) => `[${list.replace(/\s+/g, " ")}]`)}\n`,
);
const differing = rows.filter((row) => row.selfDifference !== null);
console.log(
  `${rows.length} prompts x ${steps} tokens; llama.cpp without flash attention differs in ${differing.length}:`,
);
for (const { name, selfDifference } of differing)
  console.log(`  ${name}: step ${selfDifference.step}, gap ${selfDifference.gap}`);
await peer.close();
