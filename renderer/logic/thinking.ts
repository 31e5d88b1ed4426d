import type { ChatFeatures } from "../../app/contract/model.ts";
import type { SamplingOptions } from "../../app/contract/session.ts";

/** What the composer shows of a model's thinking; null when the model has none. */
export interface ThinkingPlan {
  /** `fixed`: it thinks, and that cannot be switched off. */
  control: "switch" | "fixed";
  on: boolean;
  /** Null where there are none, or while thinking is off. */
  effort: { levels: readonly string[]; chosen: string; initial: string } | null;
}

/** Whether what the model thought in earlier replies stays in its prompt; null where its template leaves no choice, as things are set now. */
export function planPastThoughts(
  features: ChatFeatures | null,
  options: Pick<SamplingOptions, "thinking" | "effort" | "keepThoughts">,
): { kept: boolean } | null {
  if (features === null) return null;
  const on = planThinking(features, options)?.on ?? false;
  const { choice, kept } = on ? features.pastThoughts.thinking : features.pastThoughts.answering;
  return choice ? { kept: options.keepThoughts ?? kept } : null;
}

export function planThinking(
  features: ChatFeatures | null,
  options: Pick<SamplingOptions, "thinking" | "effort">,
): ThinkingPlan | null {
  if (features === null || features.thinking === "none") return null;
  const on = features.thinking === "always" || (options.thinking ?? features.thinks);
  const { effort } = features;
  // A level that was chosen for another model counts for nothing here.
  const chosen = effort?.levels.find((level) => level === options.effort) ?? "";
  return {
    control: features.thinking === "switch" ? "switch" : "fixed",
    on,
    effort: effort === null || !on ? null : { levels: effort.levels, chosen, initial: effort.initial ?? "" },
  };
}

export function levelName(level: string): string {
  return level.slice(0, 1).toUpperCase() + level.slice(1).replaceAll(/[_-]/g, " ");
}
