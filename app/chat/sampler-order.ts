/** The order in which a chat's samplers run. */
import type { SamplingDefaults, SamplingOptions } from "../contract/session.ts";
import { samplerNames } from "../engine.ts";

const stepOf = {
  temperature: "temperature",
  topK: "top_k",
  topP: "top_p",
  minP: "min_p",
  typicalP: "typical_p",
  topNSigma: "top_n_sigma",
  xtcProbability: "xtc",
  repetitionPenalty: "penalties",
  presencePenalty: "penalties",
  frequencyPenalty: "penalties",
  dryMultiplier: "dry",
} as const;

/** A model's order may lack a step that the user has chosen a value for: it comes in at its usual place, not silently dropped. */
export function samplerOrder(
  chosen: SamplingOptions,
  defaults: Pick<SamplingDefaults, "order">,
): SamplingDefaults["order"] {
  if (chosen.order !== null) return chosen.order;
  const result = [...defaults.order];
  for (const [name, step] of Object.entries(stepOf)) {
    if (chosen[name as keyof typeof stepOf] === null || result.includes(step)) continue;
    const rank = samplerNames.indexOf(step);
    const behind = result.findIndex((other) => samplerNames.indexOf(other) > rank);
    result.splice(behind < 0 ? result.length : behind, 0, step);
  }
  return result;
}
