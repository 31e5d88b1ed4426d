/** A memory plan in words: the same on the page and on the command line. */
import type { MemoryPlan } from "./engine.ts";
import { formatBytes, formatCount } from "./number.ts";

/** What was chosen at loading and why, in the engine's words, and what it takes. */
export function planWords(plan: MemoryPlan): string {
  // The engine names the type where it had to choose it.
  const named = plan.reason.includes("Keys and values are");
  const kv = named
    ? `The context takes ${formatBytes(plan.kv)}.`
    : `Keys and values: ${plan.kvType.toUpperCase()}, ${formatBytes(plan.kv)}.`;
  // The engine writes numbers as they are; here they look as everywhere on the page.
  const reason = plan.reason.replace(/(?<![\d.])\d{4,}(?![\d.]*\d)/g, (digits) => formatCount(Number(digits)));
  return [reason, kv].filter((part) => part !== "").join(" ");
}

/** What the memory goes to, in the order of the plan; what is empty is left out. */
export function planParts(plan: MemoryPlan): [name: string, bytes: number][] {
  const parts: [string, number][] = [
    ["Weights", plan.weights],
    ["Keys and values", plan.kv],
    ["Recurrent state", plan.recurrent],
    ["Checkpoints", plan.checkpoints],
    ["Scratch", plan.scratch],
    ["In all", plan.total],
  ];
  return parts.filter(([, bytes]) => bytes > 0);
}
