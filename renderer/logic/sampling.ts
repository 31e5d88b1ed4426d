import type { Model } from "../../app/contract/model.ts";
import type { SamplingOptions } from "../../app/contract/session.ts";

export interface SamplingField {
  key: keyof SamplingOptions;
  label: string;
  /** What it does, for who does not know the word. */
  about: string;
  min: number;
  max: number;
  step: number;
  /** The end of the slider, where it is useful to have one; the field takes up to `max`. */
  slider: number | null;
}

export const samplingFields: readonly SamplingField[] = [
  {
    key: "temperature",
    label: "Temperature",
    about: "0 always takes the likeliest token; higher is more varied.",
    min: 0,
    max: 5,
    step: 0.05,
    slider: 2,
  },
  {
    key: "topK",
    label: "Top K",
    about: "Only the K likeliest tokens; 0 takes all.",
    min: 0,
    max: 1_000_000,
    step: 1,
    slider: 200,
  },
  {
    key: "topP",
    label: "Top P",
    about: "Only the likeliest tokens that together reach P; 1 takes all.",
    min: 0.01,
    max: 1,
    step: 0.01,
    slider: 1,
  },
  {
    key: "minP",
    label: "Min P",
    about: "Only tokens at least P times as likely as the likeliest; 0 takes all.",
    min: 0,
    max: 1,
    step: 0.01,
    slider: 0.5,
  },
  {
    key: "seed",
    label: "Seed",
    about: "The same seed gives the same reply.",
    min: 0,
    max: 4_294_967_295,
    step: 1,
    slider: null,
  },
  {
    key: "maxTokens",
    label: "Longest reply",
    about: "Tokens; empty is until the context is full.",
    min: 1,
    max: 10_000_000,
    step: 1,
    slider: null,
  },
];

/** The model's own value, or what happens without one, in words. */
export function defaultOf(key: keyof SamplingOptions, model: Model | null): number | string {
  if (key === "seed") return "random";
  if (key === "maxTokens") return "no limit";
  return model?.defaults[key] ?? "";
}

/** What was typed, as a value: empty is the model's own (null); out of range or no number is refused (undefined). */
export function parseField(field: SamplingField, text: string): number | null | undefined {
  const trimmed = text.trim().replace(",", ".");
  if (trimmed === "") return null;
  const value = Number(trimmed);
  if (!Number.isFinite(value) || value < field.min || value > field.max) return undefined;
  return Number.isInteger(field.step) && !Number.isInteger(value) ? undefined : value;
}

export function changedCount(options: SamplingOptions): number {
  return Object.values(options).filter((value) => value !== null).length;
}
