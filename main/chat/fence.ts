/**
 * Renders a conversation and knows afterwards which parts of the prompt the template wrote and which are what people, tools or the model
 * wrote. Only the former may hold control tokens: a message that quotes `<|im_end|>` is text, not the end of a turn.
 *
 * Each text is rendered between two marks of private-use characters that nobody can guess. If that changes what the template makes of it (a
 * template that splits or tests its input), only the control tokens inside the texts are replaced, and put back as plain text.
 */

import type { TemplateMessage } from "../../app/chat/template-input.ts";
import { HalogenError } from "../../app/error.ts";
import type { Span } from "../../app/token/special.ts";

export interface FenceOptions {
  messages: readonly TemplateMessage[];
  render: (messages: readonly TemplateMessage[]) => string;
  /** Ranges of control tokens in a text. */
  find: (text: string) => [number, number][];
  /** Unguessable. */
  nonce: string;
}

const roles = { open: "\uE100", close: "\uE101", token: "\uE102", end: "\uE103" } as const;

export function renderFenced(options: FenceOptions): Span[] {
  const { messages, render } = options;
  const plain = render(messages);
  const nonce = privateNonce(options.nonce, messages);
  return marked(messages, render, plain, nonce) ?? replaced(options, nonce);
}

/** The text of all spans. */
export function spanText(spans: readonly Span[]): string {
  return spans.map((span) => span.text).join("");
}

/** Null when the marks changed the outcome, or did not come back in pairs. */
function marked(
  messages: readonly TemplateMessage[],
  render: FenceOptions["render"],
  plain: string,
  nonce: string,
): Span[] | null {
  const open = roles.open + nonce + roles.end;
  const close = roles.close + nonce + roles.end;
  // White space stays outside the marks, so that a template which trims finds it.
  const wrap = (text: string): string => {
    const core = text.trim();
    if (core === "") return text;
    const start = text.indexOf(core);
    return text.slice(0, start) + open + core + close + text.slice(start + core.length);
  };
  let rendered: string;
  try {
    rendered = render(messages.map((message) => mapTexts(message, wrap)));
  } catch (error) {
    // The plain text did not fail, so it is the marks' doing.
    if (error instanceof HalogenError && error.code === "template.failed") return null;
    throw error;
  }
  const spans: Span[] = [];
  let at = 0;
  while (at < rendered.length) {
    const from = rendered.indexOf(open, at);
    if (from < 0) break;
    const to = rendered.indexOf(close, from);
    if (to < 0) return null;
    spans.push({ text: rendered.slice(at, from), special: true });
    spans.push({ text: rendered.slice(from + open.length, to), special: false });
    at = to + close.length;
  }
  spans.push({ text: rendered.slice(at), special: true });
  const text = spanText(spans);
  return text === plain && !text.includes(nonce) ? spans.filter((span) => span.text !== "") : null;
}

function replaced({ messages, render, find }: FenceOptions, nonce: string): Span[] {
  const kept: string[] = [];
  const hide = (text: string): string => {
    let out = "";
    let at = 0;
    for (const [start, end] of find(text)) {
      out += text.slice(at, start) + roles.token + nonce + privateNumber(kept.length) + roles.end;
      kept.push(text.slice(start, end));
      at = end;
    }
    return out + text.slice(at);
  };
  const rendered = render(messages.map((message) => mapTexts(message, hide)));
  const spans: Span[] = [];
  let at = 0;
  for (const match of rendered.matchAll(new RegExp(`${roles.token}${nonce}([\uE200-\uE2FF]+)${roles.end}`, "gu"))) {
    spans.push({ text: rendered.slice(at, match.index), special: true });
    spans.push({ text: kept[readPrivateNumber(match[1] as string)] ?? "", special: false });
    at = match.index + match[0].length;
  }
  spans.push({ text: rendered.slice(at), special: true });
  if (spans.some((span) => span.text.includes(nonce))) {
    throw new HalogenError(
      "template.failed",
      "The model's chat template cuts texts apart in a way that hides who wrote them",
      {
        hint: "A message holds control tokens of this model; remove them from it, or choose another model.",
        detail: { refused: false },
      },
    );
  }
  return spans.filter((span) => span.text !== "");
}

function mapTexts(message: TemplateMessage, map: (text: string) => string): TemplateMessage {
  return {
    ...message,
    content: map(message.content),
    ...(message.reasoning_content === undefined ? {} : { reasoning_content: map(message.reasoning_content) }),
  };
}

/** In private-use characters, and in none of the texts. */
function privateNonce(seed: string, messages: readonly TemplateMessage[]): string {
  let nonce = Array.from(seed, (character) => String.fromCharCode(0xe000 + (character.charCodeAt(0) & 0xff))).join("");
  const held = (message: TemplateMessage): boolean =>
    message.content.includes(nonce) || (message.reasoning_content ?? "").includes(nonce);
  while (nonce === "" || messages.some(held)) nonce += "\uE000";
  return nonce;
}

function privateNumber(value: number): string {
  return Array.from(value.toString(16), (digit) => String.fromCharCode(0xe200 + Number.parseInt(digit, 16))).join("");
}

function readPrivateNumber(text: string): number {
  return Number.parseInt(Array.from(text, (digit) => (digit.charCodeAt(0) - 0xe200).toString(16)).join(""), 16);
}
