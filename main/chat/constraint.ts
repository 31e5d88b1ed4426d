/** A reply's format as the engine is asked to keep it: where in the reply it begins, and how much of it there is already. */

import { channelMarks } from "../../app/chat/channel.ts";
import type { ThinkingChoice } from "../../app/chat/feature.ts";
import type { ThinkingTags } from "../../app/chat/thinking.ts";
import type { Message } from "../../app/contract/message.ts";
import type { GenerateRequest, GrammarSource, GrammarThought, ThoughtMarker } from "../../app/engine.ts";
import { HalogenError } from "../../app/error.ts";
import type { Dialect, Prompt } from "./prompt.ts";

export interface ConstraintOptions {
  /** null = anything. */
  format: GrammarSource | null;
  dialect: Dialect;
  prompt: Prompt;
  choice: ThinkingChoice;
  /** The reply that is continued; null for a new one. */
  begun: Message | null;
}

/** The format holds for the answer: a thought before it is free. */
export function constraintOf(options: ConstraintOptions): Pick<GenerateRequest, "grammar" | "thought" | "written"> {
  const { format, dialect, prompt, choice, begun } = options;
  if (format === null) return {};
  const texts = (begun?.blocks ?? []).filter(({ type }) => type === "text");
  const written = texts.map(({ text }) => text).join("");
  const { place } = prompt.splitter;
  const comes = place === "reasoning" || (place === "open" && thinks(dialect, choice));
  if (written !== "" || !comes) return { grammar: format, written };
  return { grammar: format, thought: { begun: place === "reasoning", ...markersOf(dialect.tags) } };
}

/** As the splitter of replies reads them. */
function markersOf(tags: ThinkingTags): Omit<GrammarThought, "begun"> {
  const { open, close, answers = [], turns = [] } = tags;
  const opens: ThoughtMarker[] = [
    { text: open, to: "thought" },
    ...answers.map((text): ThoughtMarker => ({ text, to: "answer" })),
  ];
  if (!tags.channels) {
    const ends = [close, ...turns.filter(({ to }) => to === "text").map(({ markup }) => markup)];
    const leads = [...new Set(ends)].map((text): ThoughtMarker => ({ text, to: "answer" }));
    return { opens, leads, never: [], answers: [...answers] };
  }
  // Of the many headers that end a part, only those that are known here may come.
  const [end] = channelMarks;
  const turn = close.slice(0, close.length - (answers[0] ?? "").length);
  const leads = opens.map(({ text, to }): ThoughtMarker => ({ text: turn + text, to, bound: end }));
  return { opens, leads, never: [...channelMarks], answers: [] };
}

/** Whether a reply that has not begun may think: the model can, and is not told not to. */
function thinks({ probe }: Dialect, { thinking }: ThinkingChoice): boolean {
  const { features } = probe;
  return features.thinking === "always" || (features.thinking === "switch" && (thinking ?? features.thinks));
}

export function neverAnswered(tokens: number): HalogenError {
  return new HalogenError(
    "grammar.unreached",
    `The reply reached its longest length (${tokens} tokens) while the model was still thinking: the answer never began`,
    { hint: "Allow a longer reply, or switch thinking off.", detail: { tokens } },
  );
}
