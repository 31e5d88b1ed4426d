/** Any template with any conversation, and any reply through what splits it while it streams. Started by `npm run fuzz -- template`. */

import { createStopMatcher } from "../../app/chat/stop.ts";
import type { TemplateMessage } from "../../app/chat/template-input.ts";
import {
  createThinkingSplitter,
  findThinkingTags,
  knownTags,
  markupOf,
  thinkingStart,
} from "../../app/chat/thinking.ts";
import { renderFenced, spanText } from "../../main/chat/fence.ts";
import { probeTemplate } from "../../main/chat/probe.ts";
import { compileTemplate } from "../../main/chat/template.ts";
import { demand, Input, refusing } from "./input.ts";

const now = new Date(2026, 0, 2, 3, 4, 5);
const markup = ["<|im_start|>", "<|im_end|>", "</s>"];
const tags = knownTags as [(typeof knownTags)[0], ...(typeof knownTags)[0][]];

/** Bytes in front of a template that make the conversation: the rest of an input is the template as it stands. */
const choices = 28;

function find(text: string): [number, number][] {
  const found: [number, number][] = [];
  for (const token of markup) {
    for (let at = text.indexOf(token); at >= 0; at = text.indexOf(token, at + token.length))
      found.push([at, at + token.length]);
  }
  return found.sort(([a], [b]) => a - b);
}

function conversation(input: Input): TemplateMessage[] {
  const roles: [TemplateMessage["role"], ...TemplateMessage["role"][]] = ["system", "user", "assistant"];
  return Array.from({ length: input.below(5) }, () => ({
    role: input.pick(roles),
    content: input.pick([input.text(input.below(40)), "hello <|im_end|>", ""]),
    ...(input.below(3) === 0 ? { reasoning_content: input.text(input.below(20)) } : {}),
  }));
}

/** Refused in words, or a text; and what people wrote never stands where markup may. */
function template(input: Input): void {
  const messages = conversation(new Input(input.take(choices)));
  const variables = {
    add_generation_prompt: input.below(2) === 1,
    bos_token: "<s>",
    eos_token: "</s>",
    enable_thinking: input.below(2) === 1,
  };
  const chosen = input.pick(tags);
  const source = Buffer.from(input.take(8000)).toString("utf8");
  const compiled = refusing(() => compileTemplate(source));
  if (compiled === null) return;
  findThinkingTags(source, () => false);
  // Whatever a template does, looking at what it offers finds nothing worse than nothing.
  const { features } = probeTemplate(compiled);
  demand(features !== null && typeof features === "object", "no features");
  const render = (list: readonly TemplateMessage[]): string => compiled.render({ ...variables, messages: list }, now);
  const plain = refusing(() => render(messages));
  if (plain === null) return;
  demand(typeof plain === "string", `the template gave ${typeof plain}`);
  const spans = refusing(() => renderFenced({ messages, render, find }));
  if (spans === null) return;
  demand(
    spans.every(({ text }) => text !== ""),
    "an empty span",
  );
  thinkingStart(spanText(spans), chosen);
}

/** No character is dropped, however the reply is cut. */
function reply(input: Input): void {
  const chosen = input.pick(tags);
  const marks = markupOf(chosen) as [string, ...string[]];
  const start = thinkingStart(input.pick(["", chosen.open, `${chosen.open}\n`, "text"]), chosen);
  const splitter = createThinkingSplitter(chosen, start);
  const stops = Array.from({ length: input.below(4) }, () => input.text(input.below(6))).filter((text) => text !== "");
  const matcher = createStopMatcher(stops);
  let whole = "";
  let split = "";
  let shown = "";
  while (input.left > 0) {
    const part = input.below(5) === 0 ? input.pick(marks) : input.text(input.below(12));
    whole += part;
    split += splitter
      .push(part)
      .map(({ text }) => text)
      .join("");
    demand(whole.startsWith(split), "pieces are not the reply's beginning");
    shown += matcher.push(part);
  }
  shown += matcher.flush();
  const firstStop = Math.min(...stops.map((stop) => whole.indexOf(stop)).filter((at) => at >= 0), whole.length);
  demand(
    shown === whole.slice(0, firstStop),
    `stops ${JSON.stringify(stops)}: ${JSON.stringify(whole)} showed ${JSON.stringify(shown)}`,
  );
  split += splitter
    .flush()
    .map(({ text }) => text)
    .join("");
  demand(split === whole, `${JSON.stringify(whole)} became ${JSON.stringify(split)}`);
}

export function fuzz(data: Buffer): void {
  const input = new Input(data);
  if (input.below(4) === 0) reply(input);
  else template(input);
}
