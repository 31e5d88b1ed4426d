import type { Settings } from "../../../app/contract/setting.ts";
import { kvQuality } from "../../../app/kv-quality.ts";
import { formatCount } from "../../../app/number.ts";

export const kvChoices: readonly (readonly [Settings["kvType"], string])[] = [
  ["auto", "Automatic"],
  ["f16", "F16"],
  ["bf16", "BF16"],
  ["q8_0", "Q8_0"],
  ["f32", "F32"],
];

function share(of: number): string {
  if (of === 1) return "As much memory as F16";
  return `${Math.round(100 * of)}\u00a0% of F16's memory`;
}

/** Memory and measured error of a choice, in words. */
export function kvWords(type: Settings["kvType"]): string {
  if (type === "auto") return "F16; Q8_0 where it lets much more context fit. The list of models says which and why.";
  if (type === "f32") return "Twice F16's memory, and nothing rounded: the others are measured against it.";
  const { meanKl, sameBest, share: of } = kvQuality.types[type];
  // A number is not broken at the end of a line.
  const kl = meanKl.toExponential(1).replace("-", "\u2011");
  const error = `KL ${kl}, likeliest token the same at ${(100 * sameBest).toFixed(1)}\u00a0%`;
  return `${share(of)}; ${error} (against F32, ${formatCount(kvQuality.positions)} positions of ${kvQuality.model}).`;
}
