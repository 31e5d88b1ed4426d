/** What a model's chat template offers, and how its variables are set from a user's choice. Found out by rendering it, never by its name. */
import type { ChatFeatures } from "../contract/model.ts";
import type { TemplateMessage, ThoughtField } from "./template-input.ts";
import type { ThinkingTags } from "./thinking.ts";

export type TemplateVariables = Record<string, boolean | string | number>;

/** A way to ask for something: variables, and words that the template looks for in the system text. */
export interface TemplateSetting {
  variables: TemplateVariables;
  /** "" = none. */
  systemFlag: string;
}

export interface TemplateProbe {
  /** False: it fails on the plainest question, so that nothing is known of it. */
  works: boolean;
  features: ChatFeatures;
  /** Read off where the template puts thoughts; null when it prints none. */
  tags: ThinkingTags | null;
  on: TemplateSetting | null;
  off: TemplateSetting | null;
  /** The variable that takes a level; null when there is none. */
  effort: string | null;
  /** What keeps the thoughts of earlier replies in the prompt, and what drops them; null when the template has no say in it. */
  keep: { on: TemplateVariables; off: TemplateVariables } | null;
  /** Where the template reads a reply's thoughts. */
  thoughts: ThoughtField;
  /** Whose texts it reads only as lists of parts; it drops a plain one, or fails on it. */
  parts: TemplateMessage["role"][];
}

/** null = the template's own way. */
export interface ThinkingChoice {
  thinking: boolean | null;
  effort: string | null;
  keepThoughts: boolean | null;
}

/** A choice that the template does not offer is left out; so is a level while thinking is off. */
export function settingOf(probe: TemplateProbe, choice: ThinkingChoice): TemplateSetting {
  const { features } = probe;
  const wanted = choice.thinking === null ? null : choice.thinking ? probe.on : probe.off;
  const kept = choice.keepThoughts === null ? null : choice.keepThoughts ? probe.keep?.on : probe.keep?.off;
  const setting: TemplateSetting = {
    variables: { ...(wanted?.variables ?? {}), ...(kept ?? {}) },
    systemFlag: wanted?.systemFlag ?? "",
  };
  const level = features.effort?.levels.find((each) => each === choice.effort);
  if (probe.effort === null || level === undefined) return setting;
  if (choice.thinking === false && features.thinking === "switch") return setting;
  // A level counts only while the model thinks, which some templates do not by themselves.
  return { ...setting, variables: { ...(probe.on?.variables ?? {}), ...setting.variables, [probe.effort]: level } };
}
