/**
 * Renders a conversation and knows afterwards which parts of the prompt the template wrote and which are what people, tools or the model
 * wrote. Only the former may hold control tokens: a message that quotes `<|im_end|>` is text, not the end of a turn.
 *
 * Each text is rendered between two marks: private-use characters that occur nowhere else. If that changes what the template makes of it (a
 * template that splits or tests its input), only the control tokens inside the texts are replaced by such characters, and put back as plain
 * text. A mark is one character, so no template can cut it in two.
 */
import { type TemplateMessage, thoughtFields } from "../../app/chat/template-input.ts";
import { HalogenError } from "../../app/error.ts";
import type { Span } from "../../app/token/special.ts";

export interface FenceOptions {
  messages: readonly TemplateMessage[];
  render: (messages: readonly TemplateMessage[]) => string;
  /** Ranges of control tokens in a text. */
  find: (text: string) => [number, number][];
}

/** Throws what `render` throws. */
export function renderFenced(options: FenceOptions): Span[] {
  const { messages, render } = options;
  const plain = render(messages);
  const free = freeCharacters([
    plain,
    ...messages.flatMap((message) => [message.content, ...thoughtFields.map((field) => message[field] ?? "")]),
  ]);
  return marked(messages, render, plain, free) ?? replaced(options, free);
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
  free: () => string,
): Span[] | null {
  const open = free();
  const close = free();
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
  for (let from = rendered.indexOf(open); from >= 0; from = rendered.indexOf(open, at)) {
    const to = rendered.indexOf(close, from);
    if (to < 0) return null;
    spans.push({ text: rendered.slice(at, from), special: true });
    spans.push({ text: rendered.slice(from + 1, to), special: false });
    at = to + 1;
  }
  spans.push({ text: rendered.slice(at), special: true });
  // A mark that is left over makes a difference too.
  return spanText(spans) === plain ? spans.filter((span) => span.text !== "") : null;
}

function replaced({ messages, render, find }: FenceOptions, free: () => string): Span[] {
  const marks = new Map<string, string>();
  const texts = new Map<string, string>();
  const hide = (text: string): string => {
    let out = "";
    let at = 0;
    for (const [start, end] of find(text)) {
      const token = text.slice(start, end);
      let mark = marks.get(token);
      if (mark === undefined) {
        mark = free();
        marks.set(token, mark);
        texts.set(mark, token);
      }
      out += text.slice(at, start) + mark;
      at = end;
    }
    return out + text.slice(at);
  };
  const rendered = render(messages.map((message) => mapTexts(message, hide)));
  const spans: Span[] = [];
  let at = 0;
  for (const match of rendered.matchAll(/[\uE000-\uF8FF]/g)) {
    const token = texts.get(match[0]);
    if (token === undefined) continue;
    spans.push({ text: rendered.slice(at, match.index), special: true });
    spans.push({ text: token, special: false });
    at = match.index + 1;
  }
  spans.push({ text: rendered.slice(at), special: true });
  return spans.filter((span) => span.text !== "");
}

function mapTexts(message: TemplateMessage, map: (text: string) => string): TemplateMessage {
  const mapped = { ...message, content: map(message.content) };
  for (const field of thoughtFields) {
    const thought = message[field];
    if (thought !== undefined) mapped[field] = map(thought);
  }
  return mapped;
}

/** Gives, one after another, the private-use characters that occur in none of the texts. */
function freeCharacters(texts: readonly string[]): () => string {
  const used = new Set<string>();
  for (const text of texts) for (const match of text.matchAll(/[\uE000-\uF8FF]/g)) used.add(match[0]);
  let code = 0xe000;
  return () => {
    while (code <= 0xf8ff) {
      const character = String.fromCharCode(code++);
      if (!used.has(character)) return character;
    }
    throw new HalogenError("template.failed", "The conversation uses every private-use character there is", {
      hint: "Halogen marks texts with such characters while it renders them; remove some from the messages.",
      detail: { refused: false },
    });
  };
}
