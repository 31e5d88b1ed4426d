/** What a model file asks to be sampled with: its `general.sampling.*` keys, as llama.cpp's converters write them. */
import type { Model } from "../../app/contract/model.ts";
import { ourSampling, type SamplingDefaults, samplingDefaultsSchema } from "../../app/contract/session.ts";
import type { ModelInspection, SamplerName } from "../../app/engine.ts";

const keys: Readonly<Record<string, Exclude<keyof SamplingDefaults, "order">>> = {
  temp: "temperature",
  top_k: "topK",
  top_p: "topP",
  min_p: "minP",
  xtc_probability: "xtcProbability",
  xtc_threshold: "xtcThreshold",
  penalty_last_n: "penaltyLastN",
  penalty_repeat: "repetitionPenalty",
};

/** llama.cpp's names of samplers; what it has beside them (infill, adaptive-p) is none of ours. */
const samplers: Readonly<Record<string, SamplerName>> = {
  penalties: "penalties",
  dry: "dry",
  top_n_sigma: "top_n_sigma",
  top_k: "top_k",
  typ_p: "typical_p",
  typical_p: "typical_p",
  top_p: "top_p",
  min_p: "min_p",
  xtc: "xtc",
  temperature: "temperature",
};

/** A hint out of range, or of a sampler that is not ours, is left out: the file is usable all the same. */
export function readSamplingHints(metadata: ModelInspection["metadata"]): Pick<Model, "defaults" | "hints"> {
  const defaults: SamplingDefaults = { ...ourSampling };
  const hints: Model["hints"] = [];
  for (const [key, name] of Object.entries(keys)) {
    const parsed = samplingDefaultsSchema.shape[name].safeParse(meant(name, metadata[`general.sampling.${key}`]));
    if (!parsed.success) continue;
    defaults[name] = rounded(parsed.data);
    hints.push(name);
  }
  const order = readOrder(metadata["general.sampling.sequence"]);
  if (order !== null) {
    defaults.order = order;
    hints.push("order");
  }
  return { defaults, hints };
}

/** Makers write -1 for "from all tokens", which is 0 here. */
function meant(name: keyof SamplingDefaults, value: unknown): unknown {
  return name === "topK" && typeof value === "number" && value < 0 ? 0 : value;
}

/** Names between semicolons. A sequence with a name that is not ours is not followed in part. */
function readOrder(value: unknown): SamplerName[] | null {
  if (typeof value !== "string") return null;
  const names = value.split(";").map((name) => samplers[name.trim().toLowerCase().replaceAll("-", "_")]);
  const parsed = samplingDefaultsSchema.shape.order.safeParse(names);
  return parsed.success ? parsed.data : null;
}

/** Files hold floats of 32 bits: 0.6 is 0.6000000238 there, and was meant as 0.6. */
function rounded(value: number): number {
  return Number(value.toPrecision(7));
}
