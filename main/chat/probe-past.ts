/** What a template does with the thoughts of earlier replies, and which variable decides it. */
import type { TemplateProbe, TemplateVariables } from "../../app/chat/feature.ts";
import { type ThoughtField, thoughtFields } from "../../app/chat/template-input.ts";
import type { ChatFeatures } from "../../app/contract/model.ts";
import type { ChatTemplate } from "./template.ts";

export interface Past {
  features: ChatFeatures["pastThoughts"];
  keep: TemplateProbe["keep"];
  field: ThoughtField;
}

export interface PastQuestion {
  template: Pick<ChatTemplate, "source" | "variables">;
  /** Whether a past thought, given under this name, is in the prompt; null when the template refuses. */
  shows: (field: ThoughtField, variables: TemplateVariables) => boolean | null;
  /** The variables with which the model thinks, and does not. */
  thinking: TemplateVariables;
  answering: TemplateVariables;
}

/** Under the first of the names of thoughts that makes a difference. */
export function probePast(question: PastQuestion): Past {
  const { source } = question.template;
  const pasts = thoughtFields.filter((field) => source.includes(field)).map((field) => pastOf(question, field));
  const kept = ({ thinking, answering }: Past["features"]): boolean => thinking.kept || answering.kept;
  return (
    pasts.find(({ keep }) => keep !== null) ??
    pasts.find(({ features }) => kept(features)) ??
    pasts[0] ?? { features: dropped, keep: null, field: thoughtFields[0] }
  );
}

const never = { choice: false, kept: false };
export const dropped: ChatFeatures["pastThoughts"] = { thinking: never, answering: never };

function pastOf({ template, shows, thinking, answering }: PastQuestion, field: ThoughtField): Past {
  const keptBy = (state: TemplateVariables): boolean => shows(field, state) === true;
  const plain = { thinking: keptBy(thinking), answering: keptBy(answering) };
  for (const [name, words] of template.variables) {
    // What the switch of thinking itself does to them is no choice of its own.
    if (name in thinking || name in answering) continue;
    // Its own words first: to a variable with words, `true` is often none of them.
    const values = [...words, true, false];
    const shown = values.map((value) => ({
      value,
      thinking: shows(field, { ...thinking, [name]: value }),
      answering: shows(field, { ...answering, [name]: value }),
    }));
    const taken = shown.filter((each) => each.thinking !== null && each.answering !== null);
    const pair = findPair(taken);
    if (pair === null) continue;
    const { on, off } = pair;
    const of = (state: "thinking" | "answering") => ({ choice: on[state] !== off[state], kept: plain[state] });
    return {
      features: { thinking: of("thinking"), answering: of("answering") },
      keep: { on: { [name]: on.value }, off: { [name]: off.value } },
      field,
    };
  }
  const fixed = (kept: boolean) => ({ choice: false, kept });
  return { features: { thinking: fixed(plain.thinking), answering: fixed(plain.answering) }, keep: null, field };
}

interface Shown {
  value: boolean | string | number;
  thinking: boolean | null;
  answering: boolean | null;
}

/** Two values that differ: while the model thinks, else while it does not. */
function findPair(shown: readonly Shown[]): { on: Shown; off: Shown } | null {
  for (const state of ["thinking", "answering"] as const) {
    const on = shown.find((each) => each[state] === true);
    const off = shown.find((each) => each[state] === false);
    if (on !== undefined && off !== undefined) return { on, off };
  }
  return null;
}
