/** What the engine is asked for: the chat's own choices, and the model's where it has none. */
import { samplerOrder } from "../../app/chat/sampler-order.ts";
import { type SamplingDefaults, type SamplingOptions, usualBreakers } from "../../app/contract/session.ts";
import type { Sampling } from "../../app/engine.ts";
import type { Tokenizer } from "../../app/token/tokenizer.ts";
import { breakerSequences } from "./breaker.ts";
import { tokensOf } from "./token-text.ts";

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
    order: samplerOrder(chosen, defaults),
    seed: chosen.seed,
  };
  if (chosen.logitBias !== null) sampling.logitBias = biasesOf(chosen.logitBias, tokenizer);
  const suppress = [...tokenizer.suppressed, ...(chosen.suppress ?? []).flatMap((each) => tokensOf(tokenizer, each))];
  if (suppress.length > 0) sampling.suppress = [...new Set(suppress)];
  // Thousands of tokens hold a line end: they are looked for only where they count.
  if (sampling.dryMultiplier !== undefined && sampling.dryMultiplier > 0) {
    sampling.dryBreakers = breakerSequences(tokenizer, chosen.dryBreakers ?? usualBreakers);
  }
  return sampling;
}

/** A text's bias goes to each of its tokens, as in llama.cpp; what is named twice gets the sum. */
function biasesOf(
  chosen: NonNullable<SamplingOptions["logitBias"]>,
  tokenizer: Tokenizer,
): NonNullable<Sampling["logitBias"]> {
  const sums = new Map<number, number>();
  for (const { token, bias } of chosen) {
    for (const id of tokensOf(tokenizer, token)) sums.set(id, (sums.get(id) ?? 0) + bias);
  }
  // The engine takes no more than this, and it decides everything anyway.
  return [...sums].map(([token, sum]) => ({ token, bias: Math.max(-10_000, Math.min(10_000, sum)) }));
}
