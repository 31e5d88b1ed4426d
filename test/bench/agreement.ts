/**
 * Whether the engines that are timed compute what the file means: their next-token distributions over one text against llama.cpp's on the same weights
 * written out as F32, with an F32 cache and without flash attention.
 */
import type { Engine, LoadedModel } from "../../app/engine.ts";
import type { Peer } from "../peer/llama.ts";

type Token = ReturnType<Peer["model"]["tokenize"]>[number];

/** Log probabilities by token, one row a position. */
type Rows = { positions: number; row(position: number): Float32Array };

export interface Distance {
  /** Mean of sum p log(p / q), p being the exact one, in nats. */
  meanKl: number;
  /** Share of positions where the likeliest token is the same. */
  sameBest: number;
}

export interface Agreement {
  positions: number;
  ours: Distance;
  theirs: Distance;
  passed: boolean;
  words: string;
}

const mostKl = 1e-3;
const leastSame = 0.97;
const exact = {
  flashAttention: false,
  experimentalKvCacheKeyType: "F32",
  experimentalKvCacheValueType: "F32",
} as const;

export async function compareDistributions(options: {
  engine: Engine;
  model: LoadedModel;
  peer: Peer;
  exactPeer: Peer;
  tokens: number[];
  /** The first position whose distribution is compared. */
  from: number;
}): Promise<Agreement> {
  const { engine, model, peer, exactPeer, tokens, from } = options;
  const truth = await peerRows(exactPeer, tokens, from, exact);
  const ours = distance(truth, await engineRows(engine, model, tokens, from));
  const theirs = distance(truth, await peerRows(peer, tokens, from, {}));
  const passed = ours.meanKl <= mostKl && ours.sameBest >= leastSame;
  const say = ({ meanKl, sameBest }: Distance): string =>
    `mean KL ${meanKl.toExponential(1)}, likeliest token the same at ${(100 * sameBest).toFixed(1)} %`;
  return {
    positions: truth.positions,
    ours,
    theirs,
    passed,
    words:
      `${passed ? "passed" : "FAILED"}: against the weights computed in F32, over ${truth.positions} positions of one text: ` +
      `Halogen ${say(ours)} (limits ${mostKl} and ${100 * leastSame} %); llama.cpp ${say(theirs)}`,
  };
}

async function engineRows(engine: Engine, model: LoadedModel, tokens: number[], from: number): Promise<Rows> {
  const scores = await engine.score(model.handle, Int32Array.from(tokens), from);
  const positions = tokens.length - from;
  const width = scores.length / positions;
  return { positions, row: (position) => scores.subarray(position * width, (position + 1) * width) };
}

type ContextOptions = NonNullable<Parameters<Peer["model"]["createContext"]>[0]>;

async function peerRows(peer: Peer, tokens: number[], from: number, how: ContextOptions): Promise<Rows> {
  const context = await peer.model.createContext({ contextSize: tokens.length + 8, threads: 1, ...how });
  const ask = {
    generateNext: { probabilities: true, options: { temperature: 1, topK: 0, topP: 1, minP: 0 } },
  } as const;
  const input = tokens.map((token, at): Token | [Token, typeof ask] =>
    at < from ? (token as Token) : [token as Token, ask],
  );
  const output = await context.getSequence().controlledEvaluate(input);
  const rows: Float32Array[] = [];
  for (const { next } of output.slice(from).map((each) => each ?? { next: {} })) {
    if (next.probabilities === undefined) throw new Error("llama.cpp gave no distribution");
    const total = [...next.probabilities.values()].reduce((sum, value) => sum + value, 0);
    const row = new Float32Array(next.probabilities.size).fill(Number.NEGATIVE_INFINITY);
    for (const [token, value] of next.probabilities) row[token] = Math.log(value / total);
    rows.push(row);
  }
  await context.dispose();
  return { positions: rows.length, row: (position) => rows[position] ?? new Float32Array() };
}

function distance(truth: Rows, other: Rows): Distance {
  let kl = 0;
  let same = 0;
  for (let position = 0; position < truth.positions; position += 1) {
    const p = truth.row(position);
    const q = other.row(position);
    let [bestP, bestQ] = [0, 0];
    for (let token = 0; token < p.length; token += 1) {
      const [a, b] = [p[token] ?? 0, q[token] ?? 0];
      if (a > (p[bestP] ?? 0)) bestP = token;
      if (b > (q[bestQ] ?? 0)) bestQ = token;
      if (a > -30) kl += Math.exp(a) * (a - b);
    }
    if (bestP === bestQ) same += 1;
  }
  return { meanKl: kl / truth.positions, sameBest: same / truth.positions };
}
