/**
 * The starter model through Halogen and through llama.cpp, side by side in one run: A B A B …, the same prompt, threads and token counts, timed
 * the same way from JavaScript. Started by `npm run bench -- peer`.
 */
import { readFileSync, rmSync } from "node:fs";
import { fileURLToPath } from "node:url";
import type { Engine, LoadedModel } from "../../app/engine.ts";
import { createNativeEngine } from "../../native/index.ts";
import { dequantise } from "../oracle/dequantise.mjs";
import { openPeer, type Peer } from "../peer/llama.ts";
import { compareDistributions } from "./agreement.ts";
import { describeMachine, describeModel } from "./environment.ts";
import { readOptions } from "./option.ts";
import { markdown, summarise, type Timing } from "./summary.ts";

const options = readOptions(process.argv.slice(2));
const { path, threads, rounds, prefill, decode } = options;
const corpus = readFileSync(new URL("../fixtures/corpus.txt", import.meta.url), "utf8");

type Runner = (prompt: number[], steps: number) => Promise<Timing>;

/** Both runners report the time to the first token of a prompt that nothing is kept of, and from there to the last token. */
function halogen(engine: Engine, { handle }: LoadedModel): Runner {
  return async (prompt, steps) => {
    const begun = performance.now();
    const generation = engine.generate({
      handle,
      tokens: Int32Array.from(prompt),
      sampling: { temperature: 0, topK: 0, topP: 1, minP: 0, seed: 1 },
      maxTokens: steps + 1,
      stopTokens: [],
      alternatives: 0,
    });
    const ids: number[] = [];
    let first = 0;
    let atFirst = 0;
    for await (const batch of generation) {
      if (ids.length === 0) {
        first = performance.now();
        atFirst = batch.ids.length;
      }
      ids.push(...batch.ids);
    }
    const ended = performance.now();
    const outcome = await generation.outcome;
    if (outcome.reused > 0) throw new Error(`${outcome.reused} tokens of the prompt were not computed`);
    if (ids.length !== steps + 1) throw new Error(`${ids.length} tokens instead of ${steps + 1}`);
    return { prefill: prompt.length / (first - begun), decode: (ids.length - atFirst) / (ended - first), ids };
  };
}

async function llama(peer: Peer): Promise<Runner> {
  const context = await peer.model.createContext({
    contextSize: prefill + decode + 64,
    batchSize: prefill,
    threads: { ideal: threads, min: threads },
  });
  const sequence = context.getSequence();
  return async (prompt, steps) => {
    await sequence.clearHistory();
    const begun = performance.now();
    const ids: number[] = [];
    let first = 0;
    for await (const id of sequence.evaluate(prompt as never, { temperature: 0, yieldEogToken: true })) {
      if (ids.length === 0) first = performance.now();
      ids.push(id);
      if (ids.length === steps + 1) break;
    }
    return { prefill: prompt.length / (first - begun), decode: (ids.length - 1) / (performance.now() - first), ids };
  };
}

const engine = createNativeEngine({ threads });
const model = await engine.load({
  path,
  backend: "cpu",
  contextLength: Math.max(prefill + decode + 64, 256),
  kvType: "f16",
  threads,
});
const peer = await openPeer(path, { threads });
const ours = halogen(engine, model);
const theirs = await llama(peer);

const text = [...peer.model.tokenize(corpus, false)];
/** Another part of the text in each round, so that no engine can reuse what it computed before. */
const promptOf = (round: number): number[] =>
  Array.from({ length: prefill }, (_, i) => text[(i + round * 97 + 1) % text.length] ?? 0);

const timings: { ours: Timing[]; theirs: Timing[] } = { ours: [], theirs: [] };
// The first round warms both up and is not counted.
for (let round = 0; round <= rounds; round += 1) {
  const prompt = promptOf(round);
  const pair = { ours: await ours(prompt, decode), theirs: await theirs(prompt, decode) };
  if (round === 0) continue;
  timings.ours.push(pair.ours);
  timings.theirs.push(pair.theirs);
  process.stderr.write(
    `round ${round} of ${rounds}: prefill ${(pair.ours.prefill * 1000).toFixed(0)} against ${(pair.theirs.prefill * 1000).toFixed(0)}, ` +
      `decode ${(pair.ours.decode * 1000).toFixed(1)} against ${(pair.theirs.decode * 1000).toFixed(1)} tokens/s\n`,
  );
}

const written = fileURLToPath(new URL("../../.cache/bench-f32.gguf", import.meta.url));
dequantise(path, written);
const exactPeer = await openPeer(written);
const check = await compareDistributions({ engine, model, peer, exactPeer, tokens: text.slice(0, 192), from: 64 });
await exactPeer.close();
rmSync(written);
const info = await engine.info();
const report = {
  what: "peer",
  at: new Date().toISOString(),
  command: `npm run bench -- peer --rounds ${rounds} --threads ${threads} --prefill ${prefill} --decode ${decode}`,
  machine: describeMachine(),
  model: describeModel(path),
  engines: {
    halogen: { version: info.version, kernels: info.devices[0]?.reason ?? "", kv: model.plan.kvType },
    peer: { version: peer.version, kernels: peer.systemInfo, kv: "f16" },
  },
  threads,
  rows: [
    summarise(`prefill of ${prefill} tokens`, timings, (timing) => timing.prefill),
    summarise(`decode of ${decode} tokens`, timings, (timing) => timing.decode),
  ],
  check,
};

process.stdout.write(`${markdown(report)}\n`);
options.write(report);
await peer.close();
await engine.close();
process.exitCode = check.passed ? 0 : 1;
