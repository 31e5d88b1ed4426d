/** Whether the two engines that are timed compute the same thing: their next-token distributions over one text. */
import type { Engine, LoadedModel } from "../../app/engine.ts";
import type { Peer } from "../peer/llama.ts";

type Token = ReturnType<Peer["model"]["tokenize"]>[number];

export interface Agreement {
  positions: number;
  /** Mean of sum p log(p / q), p being llama.cpp's, in nats. */
  meanKl: number;
  /** Share of positions where the likeliest token is the same. */
  sameBest: number;
  passed: boolean;
  words: string;
}

/** Both quantise activations and differ in how attention rounds; llama.cpp's own variants differ from each other by about as much. */
const mostKl = 0.02;
const leastSame = 0.93;

export async function compareDistributions(options: {
  engine: Engine;
  model: LoadedModel;
  peer: Peer;
  tokens: number[];
  /** The first position whose distribution is compared. */
  from: number;
}): Promise<Agreement> {
  const { engine, model, peer, tokens, from } = options;
  const scores = await engine.score(model.handle, Int32Array.from(tokens), from);
  const positions = tokens.length - from;
  const width = scores.length / positions;
  const context = await peer.model.createContext({ contextSize: tokens.length + 8, threads: 1 });
  const input = tokens.map((token, at): Token | [Token, { generateNext: { probabilities: true; options: object } }] =>
    at < from
      ? (token as Token)
      : [
          token as Token,
          { generateNext: { probabilities: true, options: { temperature: 1, topK: 0, topP: 1, minP: 0 } } },
        ],
  );
  const output = await context.getSequence().controlledEvaluate(input);
  let kl = 0;
  let same = 0;
  for (let position = 0; position < positions; position += 1) {
    const probabilities = output[from + position]?.next.probabilities;
    if (probabilities === undefined) throw new Error(`llama.cpp gave no distribution at ${from + position}`);
    const row = scores.subarray(position * width, (position + 1) * width);
    const total = [...probabilities.values()].reduce((sum, value) => sum + value, 0);
    let best = -1;
    let most = 0;
    for (const [token, value] of probabilities) {
      const p = value / total;
      if (p > most) [best, most] = [token, p];
      if (p > 0) kl += p * (Math.log(p) - (row[token] ?? Number.NEGATIVE_INFINITY));
    }
    const ours = row.reduce((found, value, token) => (value > (row[found] ?? 0) ? token : found), 0);
    if (ours === best) same += 1;
  }
  await context.dispose();
  const meanKl = kl / positions;
  const sameBest = same / positions;
  const passed = meanKl <= mostKl && sameBest >= leastSame;
  return {
    positions,
    meanKl,
    sameBest,
    passed,
    words:
      `${passed ? "passed" : "FAILED"}: over ${positions} positions of one text the mean KL divergence is ${meanKl.toFixed(5)} ` +
      `(limit ${mostKl}) and the likeliest token is the same at ${(100 * sameBest).toFixed(1)} % (limit ${100 * leastSame} %)`,
  };
}
