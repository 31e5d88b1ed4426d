/** From a conversation to the tokens a model is given. */
import { channelHeader } from "../../app/chat/channel.ts";
import { settingOf, type TemplateProbe, type TemplateSetting, type ThinkingChoice } from "../../app/chat/feature.ts";
import { foldSystem, inParts, type TemplateMessage, templateMessages } from "../../app/chat/template-input.ts";
import {
  createThinkingSplitter,
  findThinkingTags,
  markupOf,
  spacingOf,
  type ThinkingSplitter,
  type ThinkingTags,
  thinkingStart,
} from "../../app/chat/thinking.ts";
import type { Message } from "../../app/contract/message.ts";
import { HalogenError } from "../../app/error.ts";
import type { Span } from "../../app/token/special.ts";
import type { Tokenizer } from "../../app/token/tokenizer.ts";
import { utf8Length } from "../../app/token/utf8.ts";
import { type ContextLimit, checkContext } from "./context.ts";
import { fallbackTemplate } from "./fallback-template.ts";
import { renderFenced, spanText } from "./fence.ts";
import type { Prober } from "./prober.ts";
import { type ChatTemplate, compileTemplate } from "./template.ts";

/** How a model is talked to; made once for each model file. */
export interface Dialect {
  tokenizer: Tokenizer;
  template: ChatTemplate;
  probe: TemplateProbe;
  tags: ThinkingTags;
  /** Control tokens that are part of the reply's text all the same: those in thinking tags. */
  shown: ReadonlySet<number>;
  /** Texts that end a reply. */
  stops: readonly string[];
  /** What the user should know, in words. */
  notices: readonly string[];
}

/** Rejects with template.failed. */
export async function createDialect(
  tokenizer: Tokenizer,
  template: string | null,
  prober: Pick<Prober, "probe">,
): Promise<Dialect> {
  const isToken = (text: string): boolean => tokenizer.specialId(text) !== undefined;
  const fallback = template === null || template.trim() === "" ? fallbackTemplate(isToken) : null;
  const source = fallback?.source ?? template ?? "";
  // First in its own thread: what does harm there is never run here.
  const probe = await prober.probe(source);
  const compiled = compileTemplate(source);
  const tags = probe.tags ?? findThinkingTags(source, isToken);
  const markup = markupOf(tags);
  const shown = tokenizer.special.tokens.filter(({ text }) => markup.some((each) => each.includes(text)));
  return {
    tokenizer,
    template: compiled,
    probe,
    tags,
    shown: new Set(shown.map(({ id }) => id)),
    stops: fallback?.stops ?? [],
    notices: [...tokenizer.notices, ...(fallback === null ? [] : [fallback.notice])],
  };
}

export interface PromptRequest {
  dialect: Dialect;
  system: string;
  /** Whether and how much the model is to think. */
  choice: ThinkingChoice;
  /** From the root to the message that is answered. */
  path: readonly Message[];
  /** The reply as far as it got, when it is to be continued; null for a new one. */
  begun: Message | null;
  /** For templates that print the date. */
  now: Date;
  limit: ContextLimit;
}

export interface Prompt {
  tokens: number[];
  /** The exact text, markup included. */
  text: string;
  /** In the state in which the reply goes on. */
  splitter: ThinkingSplitter;
}

/**
 * Renders and tokenises. To continue a reply, the prompt of a new one is rendered and the begun reply is put behind it without closing it, so
 * that no template has to know about unfinished messages. Throws template.failed and context.exceeded.
 */
export function buildPrompt(request: PromptRequest): Prompt {
  const { dialect, begun } = request;
  const setting = settingOf(dialect.probe, request.choice);
  const system = [request.system, setting.systemFlag].filter((part) => part !== "").join("\n");
  const spans = renderConversation(request, setting, templateMessages(system, request.path, dialect.probe.thoughts));
  const head = spanText(spans);
  const start = thinkingStart(head, dialect.tags);
  const splitter = createThinkingSplitter(dialect.tags, start);
  const write = dialect.tags.channels ? begunChannels : begunSpans;
  const tail = begun === null ? [] : write(begun, dialect.tags, start === "reasoning");
  const text = head + spanText(tail);
  splitter.push(spanText(tail));
  // Megabytes that cannot fit anyhow are not worth seconds of tokenising.
  checkContext(Math.ceil(utf8Length(text) / dialect.tokenizer.longest), false, request.limit);
  const tokens = dialect.tokenizer.encodePrompt([...spans, ...tail]);
  checkContext(tokens.length, true, request.limit);
  return { tokens, text, splitter };
}

function renderConversation(
  request: PromptRequest,
  setting: TemplateSetting,
  messages: readonly TemplateMessage[],
): Span[] {
  const { tokenizer, template, probe } = request.dialect;
  const variables = {
    ...setting.variables,
    add_generation_prompt: true,
    bos_token: tokenizer.bos === null ? "" : tokenizer.tokenText(tokenizer.bos),
    eos_token: tokenizer.eos === null ? "" : tokenizer.tokenText(tokenizer.eos),
  };
  const fenced = (list: readonly TemplateMessage[]): Span[] =>
    renderFenced({
      messages: list,
      render: (each) => template.render({ ...variables, messages: inParts(each, probe.parts) }, request.now),
      find: tokenizer.special.find,
    });
  // A model without a system role, or whose template drops it, gets the instructions with the first question.
  if (probe.works && !probe.features.system) return fenced(foldSystem(messages));
  try {
    return fenced(messages);
  } catch (error) {
    const refused = error instanceof HalogenError && error.detail.refused === true;
    if (!refused || messages[0]?.role !== "system") throw error;
    try {
      // Some refuse a system role only here and there.
      return fenced(foldSystem(messages));
    } catch {
      throw error;
    }
  }
}

/** The reply as the model wrote it: what it thought, and what it said. */
function begunSpans(message: Message, tags: ThinkingTags, opened: boolean): Span[] {
  const spans: Span[] = [];
  const [afterOpen, beforeClose, afterClose] = spacingOf(tags);
  let open = opened;
  for (const block of message.blocks) {
    if (block.type === "text") {
      if (open && block.text !== "") spans.push({ text: `${tags.close}${afterClose}`, special: true });
      if (block.text !== "") open = false;
      spans.push({ text: block.text, special: false });
      continue;
    }
    if (!open) spans.push({ text: `${tags.open}${afterOpen}`, special: true });
    spans.push({ text: block.text, special: false });
    if (block.finished) spans.push({ text: `${beforeClose}${tags.close}${afterClose}`, special: true });
    open = !block.finished;
  }
  return spans.filter((span) => span.text !== "");
}

/** The same in channels: each block has a header of its own, but for one that the prompt has opened. */
function begunChannels(message: Message, _: ThinkingTags, opened: boolean): Span[] {
  const spans: Span[] = [];
  for (const block of message.blocks.filter(({ text }) => text !== "")) {
    const kind = block.type === "text" ? "text" : "reasoning";
    const first = spans.length === 0;
    if (!first || !(opened && kind === "reasoning")) {
      spans.push({ text: channelHeader(kind, first && !opened), special: true });
    }
    spans.push({ text: block.text, special: false });
  }
  const last = message.blocks[message.blocks.length - 1];
  if (last?.type === "reasoning" && last.finished) spans.push({ text: channelHeader("text", false), special: true });
  return spans;
}
