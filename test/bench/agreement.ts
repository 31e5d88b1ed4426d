/**
 * Whether the engines that are timed compute what the file means: their next-token distributions over one text, and the tokens that they decoded while they were
 * timed, against llama.cpp's on the same weights written out as F32, with an F32 cache and without flash attention.
 */
import { execFileSync } from "node:child_process";
import { closeSync, openSync, readSync, rmSync } from "node:fs";
import { join } from "node:path";
import { type Asked, ask, type Rows } from "../peer/asked.ts";
import { type Entrant, llamaProgram, ours, scratch } from "./entrant.ts";
import type { BenchModel } from "./model.ts";
import type { Check } from "./summary.ts";

export interface Distance {
  /** Mean of sum p log(p / q), p being the exact one, in nats. */
  meanKl: number;
  /** Share of positions where the likeliest token is the same. */
  sameBest: number;
}

export interface Decoded {
  tokens: number;
  /** Of them the likeliest by the exact distribution after what stands before each. */
  likeliest: number;
  /** Mean over the others of how far they lie behind it there, in nats. */
  lost: number;
}

export const leastSame = 0.97;
/** Of the text whose distributions are compared: what comes before the first, and how many. */
export const scored = { from: 255, rows: 512 };

const passes = ({ meanKl, sameBest }: Distance, mostKl: number): boolean => meanKl <= mostKl && sameBest >= leastSame;

/** `asked`: those that are timed, as they are. `run`: a prompt and the tokens that each decoded after it. */
export async function agreement(
  model: BenchModel,
  path: string,
  threads: number,
  asked: ReadonlyMap<Entrant, Asked>,
  run: { prompt: readonly number[]; ids: ReadonlyMap<Entrant, readonly number[]> },
): Promise<Check> {
  const plain = join(scratch, "f32.gguf");
  execFileSync(llamaProgram, [path, "--dequantise", plain], { stdio: ["ignore", "ignore", "inherit"] });
  const tokens = model.prompt(path, scored.from + scored.rows, 1000);
  const longest = Math.max(tokens.length, ...[...run.ids.values()].map((ids) => run.prompt.length + ids.length));
  const exact = ["--context", String(longest + 64), "--flash", "off", "--kv", "f32"];
  const truthful = await ask(llamaProgram, [plain, "--threads", String(threads), ...exact], scratch);
  rmSync(plain);
  const truth = await truthful.score(tokens, scored.from);
  const entrants: Check["entrants"] = [];
  // What two decoded alike is looked at once.
  const known = new Map<string, Decoded>();
  for (const [entrant, one] of asked) {
    const rows = await one.score(tokens, scored.from);
    const ids = run.ids.get(entrant) ?? [];
    const key = ids.join(" ");
    const look = async (): Promise<Decoded> => {
      const after = await truthful.score([...run.prompt, ...ids.slice(0, -1)], run.prompt.length - 1);
      const found = decoded(after, ids);
      rmSync(after.path);
      return found;
    };
    const same = known.get(key) ?? (await look());
    known.set(key, same);
    entrants.push({
      engine: entrant.engine,
      setting: entrant.setting,
      distance: distance(truth, rows),
      decoded: same,
    });
    rmSync(rows.path);
  }
  rmSync(truth.path);
  await truthful.close();
  const own = entrants.find(({ engine }) => engine === ours);
  if (own === undefined) throw new Error("Halogen was not compared");
  return { positions: truth.rows, entrants, passed: passes(own.distance, model.mostKl) };
}

/** Reads both row by row: the rows of a large vocabulary fill memory. */
export function distance(truth: Rows, other: Rows): Distance {
  if (truth.rows !== other.rows || truth.width !== other.width || truth.rows === 0) {
    throw new Error(`${other.rows} rows of ${other.width} against ${truth.rows} of ${truth.width}`);
  }
  const [a, b] = [openSync(truth.path, "r"), openSync(other.path, "r")];
  const [p, q] = [new Float32Array(truth.width), new Float32Array(truth.width)];
  let kl = 0;
  let same = 0;
  for (let row = 0; row < truth.rows; row += 1) {
    fill(a, p);
    fill(b, q);
    let [bestP, bestQ] = [0, 0];
    for (let token = 0; token < p.length; token += 1) {
      const [x, y] = [p[token] ?? 0, q[token] ?? 0];
      if (x > (p[bestP] ?? 0)) bestP = token;
      if (y > (q[bestQ] ?? 0)) bestQ = token;
      if (x > -30) kl += Math.exp(x) * (x - y);
    }
    if (bestP === bestQ) same += 1;
  }
  closeSync(a);
  closeSync(b);
  if (!Number.isFinite(kl)) throw new Error(`${other.path}: a score is no number`);
  return { meanKl: kl / truth.rows, sameBest: same / truth.rows };
}

/** `truth`: the exact distribution before each of `ids`. */
export function decoded(truth: Rows, ids: readonly number[]): Decoded {
  if (truth.rows !== ids.length || ids.length === 0) throw new Error(`${truth.rows} rows for ${ids.length} tokens`);
  const file = openSync(truth.path, "r");
  const row = new Float32Array(truth.width);
  let likeliest = 0;
  let lost = 0;
  for (const id of ids) {
    fill(file, row);
    const behind = row.reduce((most, value) => Math.max(most, value)) - (row[id] ?? Number.NaN);
    if (behind === 0) likeliest += 1;
    lost += behind;
  }
  closeSync(file);
  if (!Number.isFinite(lost)) throw new Error("a decoded token has no probability");
  return { tokens: ids.length, likeliest, lost: lost / Math.max(1, ids.length - likeliest) };
}

function fill(file: number, row: Float32Array): void {
  const bytes = readSync(file, row);
  if (bytes !== row.byteLength)
    throw new Error(`${bytes} bytes instead of ${row.byteLength}: the scores are cut short`);
}
