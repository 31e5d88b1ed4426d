import type { Model } from "../../app/contract/model.ts";
import { type SamplingOptions, usualBreakers } from "../../app/contract/session.ts";
import { formatCount } from "../../app/number.ts";

/** The options that are one number. */
export type NumberKey = {
  [K in keyof SamplingOptions]: SamplingOptions[K] extends number | null ? K : never;
}[keyof SamplingOptions];
/** The options that are a list of texts. */
export type TextsKey = "stop" | "dryBreakers";

export interface SamplingField {
  key: NumberKey;
  label: string;
  /** What it does, for who does not know the word. */
  about: string;
  min: number;
  max: number;
  step: number;
  /** The end of the slider, where it is useful to have one; the field takes up to `max`. */
  slider: number | null;
}

function field(
  key: NumberKey,
  label: string,
  about: string,
  [min, max, step]: readonly [min: number, max: number, step: number],
  slider: number | null = null,
): SamplingField {
  return { key, label, about, min, max, step, slider };
}

const million = 1_000_000;
const most = 10 * million;

export const samplingFields: readonly SamplingField[] = [
  field("temperature", "Temperature", "0 always takes the likeliest token; higher is more varied.", [0, 5, 0.05], 2),
  field("topK", "Top K", "Only the K likeliest tokens; 0 takes all.", [0, million, 1], 200),
  field("topP", "Top P", "Only the likeliest tokens that together reach P; 1 takes all.", [0.01, 1, 0.01], 1),
  field("minP", "Min P", "Only tokens at least P times as likely as the likeliest; 0 takes all.", [0, 1, 0.01], 0.5),
  field("seed", "Seed", "The same seed gives the same reply.", [0, 4_294_967_295, 1]),
  field("maxTokens", "Longest reply", "Tokens; empty is until the context is full.", [1, most, 1]),
];

/** Texts, one a line. */
export interface TextsField {
  key: TextsKey;
  label: string;
  about: string;
  /** What holds where nothing was set. */
  usual: readonly string[] | null;
  /** Characters of one text. */
  longest: number;
}

export interface SamplingGroup {
  label: string;
  fields: readonly SamplingField[];
  texts: TextsField | null;
}

/** What fewer people change; folded away. */
export const samplingGroups: readonly SamplingGroup[] = [
  {
    label: "Repetition",
    fields: [
      field("repetitionPenalty", "Repeat", "Makes what came lately less likely; 1 is off.", [0.01, 10, 0.01], 2),
      field("presencePenalty", "Presence", "Takes this off what has come at all; 0 is off.", [-10, 10, 0.05]),
      field("frequencyPenalty", "Frequency", "Takes this off each time it has come; 0 is off.", [-10, 10, 0.05]),
      field("penaltyLastN", "Looks back", "Tokens that these three look at; -1 is all.", [-1, most, 1]),
      field("dryMultiplier", "DRY", "Against repeated phrases; 0 is off, 0.8 is usual.", [0, 100, 0.05], 2),
      field("dryBase", "DRY base", "How fast it grows with the phrase.", [1, 100, 0.05]),
      field("dryAllowedLength", "DRY allowed", "Tokens that may be repeated unpunished.", [0, million, 1]),
      field("dryLastN", "DRY looks back", "Tokens that it looks at; -1 is all.", [-1, most, 1]),
    ],
    texts: {
      key: "dryBreakers",
      label: "DRY breakers",
      about: "No phrase reaches over these; one a line, \\n is a line end.",
      usual: usualBreakers,
      longest: 100,
    },
  },
  {
    label: "More samplers",
    fields: [
      field("typicalP", "Typical P", "Only tokens about as surprising as usual; 1 takes all.", [0.01, 1, 0.01], 1),
      field("topNSigma", "Top n sigma", "Only tokens near the best, in deviations; 0 takes all.", [0, 100, 0.1], 5),
      field("xtcProbability", "XTC chance", "How often the likeliest are left out; 0 is never.", [0, 1, 0.01], 1),
      field("xtcThreshold", "XTC threshold", "Counts as likely from here.", [0, 1, 0.01], 0.5),
      field("temperatureRange", "Dynamic range", "Temperature moves by so much, with doubt.", [0, 5, 0.05], 2),
      field("temperatureExponent", "Dynamic exponent", "How it follows the doubt.", [0.01, 10, 0.05]),
    ],
    texts: null,
  },
  {
    label: "End of the reply",
    fields: [field("minTokens", "Shortest reply", "Tokens before it may end; 0 is off.", [0, most, 1])],
    texts: {
      key: "stop",
      label: "Stop at",
      about: "Ends the reply before one of these; one a line, \\n is a line end.",
      usual: null,
      longest: 1000,
    },
  },
];

/** The model's own value, or what happens without one, in words. */
export function defaultOf(key: NumberKey, model: Model | null): number | string {
  if (key === "seed") return "random";
  if (key === "maxTokens") return "no limit";
  if (key === "minTokens") return 0;
  return model?.defaults[key] ?? "";
}

/** Says where a grey value comes from, when it is the file that asks for it. */
export function hintOf(key: NumberKey, model: Model | null): string | null {
  const own = model?.hints.find((name) => name === key);
  return own === undefined ? null : `Model's own: ${defaultOf(key, model)}.`;
}

export function orderHintOf(model: Model | null): string | null {
  return model?.hints.includes("order") ? `Model's own order: ${model.defaults.order.join(", ")}.` : null;
}

/** What was typed, as a value: empty is the model's own (null); out of range or no number is refused (undefined). */
export function parseField(field: SamplingField, text: string): number | null | undefined {
  const trimmed = text.trim().replace(",", ".");
  if (trimmed === "") return null;
  const value = Number(trimmed);
  if (!Number.isFinite(value) || value < field.min || value > field.max) return undefined;
  return Number.isInteger(field.step) && !Number.isInteger(value) ? undefined : value;
}

export function rangeOf(field: SamplingField): string {
  return `From ${formatCount(field.min)} to ${formatCount(field.max)}.`;
}

/** One text a line; empty lines are none. `\n`, `\t` and `\\` are read as they are in programs. */
export function parseTexts(text: string): string[] | null {
  const texts = text
    .split("\n")
    .filter((line) => line !== "")
    .map((line) => line.replace(/\\([nt\\])/g, (_, letter: string) => ({ n: "\n", t: "\t" })[letter] ?? "\\"));
  return texts.length === 0 ? null : texts;
}

const mostTexts = 100;

/** What is wrong with texts that were typed, in words. */
export function textsProblem({ longest }: TextsField, texts: readonly string[] | null): string | null {
  if (texts === null) return null;
  if (texts.length > mostTexts) return `At most ${mostTexts} lines; there are ${formatCount(texts.length)}.`;
  const long = texts.findIndex((text) => text.length > longest);
  if (long < 0) return null;
  return `At most ${formatCount(longest)} characters a line; text ${long + 1} has ${formatCount(texts[long]?.length ?? 0)}.`;
}

export function showTexts(texts: readonly string[] | null): string {
  const shown = (texts ?? []).map((text) =>
    text.replaceAll("\\", "\\\\").replaceAll("\n", "\\n").replaceAll("\t", "\\t"),
  );
  return shown.join("\n");
}

export function changedCount(options: SamplingOptions): number {
  const { thinking: _thinking, effort: _effort, keepThoughts: _keep, ...sampling } = options;
  return Object.values(sampling).filter((value) => value !== null).length;
}
