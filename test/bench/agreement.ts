/**
 * Whether the engines that are timed compute what the file means: their next-token distributions over one text against llama.cpp's on the same weights
 * written out as F32, with an F32 cache and without flash attention.
 */
import { closeSync, openSync, readSync } from "node:fs";
import type { Rows } from "../peer/asked.ts";

export interface Distance {
  /** Mean of sum p log(p / q), p being the exact one, in nats. */
  meanKl: number;
  /** Share of positions where the likeliest token is the same. */
  sameBest: number;
}

export const leastSame = 0.97;

export const passes = ({ meanKl, sameBest }: Distance, mostKl: number): boolean =>
  meanKl <= mostKl && sameBest >= leastSame;

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

function fill(file: number, row: Float32Array): void {
  const bytes = readSync(file, row);
  if (bytes !== row.byteLength)
    throw new Error(`${bytes} bytes instead of ${row.byteLength}: the scores are cut short`);
}
