/** What the engine is asked for: the chat's own choices, and the model's where it has none. */
import type { SamplingDefaults, SamplingOptions } from "../../app/contract/session.ts";
import { type Sampling, samplerNames } from "../../app/engine.ts";
import type { Tokenizer } from "../../app/token/tokenizer.ts";
import { breakerSequences, usualBreakers } from "./breaker.ts";

export function samplingOf(chosen: SamplingOptions, defaults: SamplingDefaults, tokenizer: Tokenizer): Sampling {
  const sampling: Sampling = {
    temperature: chosen.temperature ?? defaults.temperature,
    temperatureRange: chosen.temperatureRange ?? defaults.temperatureRange,
    temperatureExponent: chosen.temperatureExponent ?? defaults.temperatureExponent,
    topK: chosen.topK ?? defaults.topK,
    topP: chosen.topP ?? defaults.topP,
    minP: chosen.minP ?? defaults.minP,
    typicalP: chosen.typicalP ?? defaults.typicalP,
    topNSigma: chosen.topNSigma ?? defaults.topNSigma,
    xtcProbability: chosen.xtcProbability ?? defaults.xtcProbability,
    xtcThreshold: chosen.xtcThreshold ?? defaults.xtcThreshold,
    repetitionPenalty: chosen.repetitionPenalty ?? defaults.repetitionPenalty,
    presencePenalty: chosen.presencePenalty ?? defaults.presencePenalty,
    frequencyPenalty: chosen.frequencyPenalty ?? defaults.frequencyPenalty,
    penaltyLastN: chosen.penaltyLastN ?? defaults.penaltyLastN,
    dryMultiplier: chosen.dryMultiplier ?? defaults.dryMultiplier,
    dryBase: chosen.dryBase ?? defaults.dryBase,
    dryAllowedLength: chosen.dryAllowedLength ?? defaults.dryAllowedLength,
    dryLastN: chosen.dryLastN ?? defaults.dryLastN,
    order: withOwn(chosen, chosen.order ?? defaults.order),
    seed: chosen.seed,
  };
  if (chosen.logitBias !== null) sampling.logitBias = chosen.logitBias;
  if (chosen.suppress !== null) sampling.suppress = chosen.suppress;
  // Thousands of tokens hold a line end: they are looked for only where they count.
  if (sampling.dryMultiplier !== undefined && sampling.dryMultiplier > 0) {
    sampling.dryBreakers = breakerSequences(tokenizer, chosen.dryBreakers ?? usualBreakers);
  }
  return sampling;
}

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
function withOwn(chosen: SamplingOptions, order: SamplingDefaults["order"]): SamplingDefaults["order"] {
  if (chosen.order !== null) return order;
  const result = [...order];
  for (const [name, step] of Object.entries(stepOf)) {
    if (chosen[name as keyof typeof stepOf] === null || result.includes(step)) continue;
    const rank = samplerNames.indexOf(step);
    const behind = result.findIndex((other) => samplerNames.indexOf(other) > rank);
    result.splice(behind < 0 ? result.length : behind, 0, step);
  }
  return result;
}
