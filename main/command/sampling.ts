/** The options of `halogen run` that say how tokens are chosen. */
import type { ParseArgsOptionsConfig } from "node:util";
import { type SamplingOptions, samplingOptionsSchema, type TokenChoice } from "../../app/contract/session.ts";
import { samplerNames } from "../../app/engine.ts";
import { type Command, type CommandContext, numberOption, UsageError } from "./command.ts";

interface NumberOption {
  name: string;
  short?: string;
  key: keyof SamplingOptions;
  range: { from: number; to: number; integer?: boolean };
}

const smallest = 0.000_001;

const numbers: readonly NumberOption[] = [
  { name: "temperature", short: "t", key: "temperature", range: { from: 0, to: 5 } },
  { name: "temperature-range", key: "temperatureRange", range: { from: 0, to: 5 } },
  { name: "temperature-exponent", key: "temperatureExponent", range: { from: smallest, to: 10 } },
  { name: "top-k", key: "topK", range: { from: 0, to: 1_000_000, integer: true } },
  { name: "top-p", key: "topP", range: { from: smallest, to: 1 } },
  { name: "min-p", key: "minP", range: { from: 0, to: 1 } },
  { name: "typical-p", key: "typicalP", range: { from: smallest, to: 1 } },
  { name: "top-n-sigma", key: "topNSigma", range: { from: 0, to: 100 } },
  { name: "xtc-probability", key: "xtcProbability", range: { from: 0, to: 1 } },
  { name: "xtc-threshold", key: "xtcThreshold", range: { from: 0, to: 1 } },
  { name: "repeat-penalty", key: "repetitionPenalty", range: { from: smallest, to: 10 } },
  { name: "presence-penalty", key: "presencePenalty", range: { from: -10, to: 10 } },
  { name: "frequency-penalty", key: "frequencyPenalty", range: { from: -10, to: 10 } },
  { name: "repeat-last-n", key: "penaltyLastN", range: { from: -1, to: 10_000_000, integer: true } },
  { name: "dry-multiplier", key: "dryMultiplier", range: { from: 0, to: 100 } },
  { name: "dry-base", key: "dryBase", range: { from: 1, to: 100 } },
  { name: "dry-allowed-length", key: "dryAllowedLength", range: { from: 0, to: 1_000_000, integer: true } },
  { name: "dry-last-n", key: "dryLastN", range: { from: -1, to: 10_000_000, integer: true } },
  { name: "seed", key: "seed", range: { from: 0, to: 4_294_967_295, integer: true } },
  { name: "min-tokens", key: "minTokens", range: { from: 0, to: 10_000_000, integer: true } },
  { name: "max-tokens", short: "n", key: "maxTokens", range: { from: 1, to: 1_000_000_000, integer: true } },
];

const lists = ["dry-breaker", "logit-bias", "suppress", "stop"] as const;

export const samplingOptions: ParseArgsOptionsConfig = {
  greedy: { type: "boolean" },
  ...Object.fromEntries(
    numbers.map(({ name, short }) => [name, { type: "string", ...(short === undefined ? {} : { short }) }]),
  ),
  ...Object.fromEntries(lists.map((name) => [name, { type: "string", multiple: true }])),
  samplers: { type: "string" },
};

export const samplingHelp: Command["help"] = [
  ["--greedy", "always the likeliest token; the same as --temperature 0"],
  ["-t, --temperature T", "0 to 5 (the model's own, as for all of these)"],
  ["--temperature-range R", "between T - R and T + R, by how sure the model is; --temperature-exponent E"],
  ["--top-k N, --top-p P, --min-p P", "which tokens may be chosen"],
  ["--typical-p P, --top-n-sigma N", "the same by surprise, and by distance from the best"],
  ["--xtc-probability P", "how often the likeliest tokens are left out; --xtc-threshold P"],
  ["--repeat-penalty X", "against tokens of the last --repeat-last-n N (64; -1 is all)"],
  ["--presence-penalty X", "the same, subtracted once; --frequency-penalty X for each time"],
  ["--dry-multiplier X", "against repeated phrases; --dry-base, --dry-allowed-length, --dry-last-n"],
  ["--dry-breaker TEXT", "no phrase reaches over it; may be given again (line end, colon, quote, asterisk)"],
  ["--logit-bias ID=X", "added to a token's logit, or to those of a text's tokens (TEXT=X); may be given again"],
  ["--suppress ID", "a token that never comes, or a text's tokens; may be given again"],
  ["--samplers A;B", `the order (${samplerNames.join(";")})`],
  ["--seed S", "the same seed gives the same text"],
  ["--stop TEXT", "ends the reply; may be given again"],
  ["--min-tokens N", "no end before so many tokens"],
  ["-n, --max-tokens N", "stop after so many tokens"],
];

export function readSampling(context: CommandContext): Partial<SamplingOptions> {
  const found: Partial<Record<keyof SamplingOptions, unknown>> = {};
  for (const { name, key, range } of numbers) {
    const value = numberOption(context, name, range);
    if (value !== undefined) found[key] = value;
  }
  if (context.values.greedy === true) {
    if (found.temperature !== undefined && found.temperature !== 0) {
      throw new UsageError("--greedy and --temperature contradict each other.");
    }
    found.temperature = 0;
  }
  const breakers = listOption(context, "dry-breaker");
  if (breakers !== null) found.dryBreakers = breakers;
  const stop = listOption(context, "stop");
  if (stop !== null) found.stop = stop;
  const biases = listOption(context, "logit-bias");
  if (biases !== null) found.logitBias = biases.map(readBias);
  const suppress = listOption(context, "suppress");
  if (suppress !== null) found.suppress = suppress.map((text) => readToken("--suppress", text));
  const { samplers } = context.values;
  if (typeof samplers === "string") found.order = samplers.split(";").map((name) => name.trim());
  const parsed = samplingOptionsSchema.partial().safeParse(found);
  if (parsed.success) return parsed.data as Partial<SamplingOptions>;
  const [issue] = parsed.error.issues;
  throw new UsageError(`${optionOf(issue?.path[0])}: ${issue?.message ?? "is not valid"}.`);
}

function optionOf(key: PropertyKey | undefined): string {
  const named = { dryBreakers: "dry-breaker", logitBias: "logit-bias", suppress: "suppress", stop: "stop" };
  const list = Object.entries(named).find(([name]) => name === key)?.[1];
  return `--${numbers.find((each) => each.key === key)?.name ?? list ?? "samplers"}`;
}

function listOption({ values }: CommandContext, name: (typeof lists)[number]): string[] | null {
  const value = values[name];
  if (!Array.isArray(value)) return null;
  return value.map(String);
}

function readBias(text: string): { token: TokenChoice; bias: number } {
  const at = text.lastIndexOf("=");
  const bias = at < 0 ? "" : text.slice(at + 1).trim();
  const value = bias === "" ? Number.NaN : Number(bias);
  if (!Number.isFinite(value)) throw new UsageError(`--logit-bias must be like 123=-1.5, not "${text}".`);
  return { token: readToken("--logit-bias", text.slice(0, at)), bias: value };
}

/** Digits are a token's number, all else is text. */
function readToken(option: string, text: string): TokenChoice {
  if (text === "") throw new UsageError(`${option} must name a token by its number or its text.`);
  return /^\d+$/.test(text.trim()) ? Number(text) : text;
}
