/**
 * Splits a reply of channels (OpenAI's harmony format): each part is a header that names its channel, then text. Headers are markup, and hold
 * more than the name: a recipient, the kind of content. What only looks like a header stays text.
 */
import { createHeld, type Piece, pushThrough } from "./piece.ts";
import type { ThinkingSplitter, ThinkingStart } from "./thinking.ts";

/** The marks of a header in the order in which they may stand; the last one is always there. */
export const channelMarks = ["<|end|>", "<|start|>", "<|channel|>", "<|constrain|>", "<|message|>"] as const;

const lastMark = channelMarks.length - 1;
const channelMark = channelMarks.indexOf("<|channel|>");
/** Behind one mark, in UTF-16 units: names, recipients and kinds of content are short. */
const longestWords = 200;
/** Where the prompt has written a mark itself, a reply begins inside a header. */
const barewords = /^\s*(?:(?:analysis|commentary|final)\b\s*)?(?:to=[^\s<]*\s*)?\w*$/;
const barewordStarts = ["analysis", "commentary", "final", "to="];

const cutHeader =
  /^\s*(?=<\|(?:end|start|channel)\|>)(?:<\|end\|>)?(?:<\|start\|>\w*(?: to=\S*)?)?(?:<\|channel\|>(?:\w+(?: to=\S*)?\s*(?:<\|constrain\|>)?\w*)?)?(?:<[a-z|]*)?$/;

type Header = { length: number; kind: "reasoning" | "text" } | "wait" | "none";

/** The header at the front of `text`. `first`: the reply begins here, perhaps behind a mark that the prompt ends with. */
function readHeader(text: string, first: boolean): Header {
  let at = 0;
  let mark = -1;
  let channel = "";
  for (;;) {
    const words = /^[^<]*/.exec(text.slice(at))?.[0] ?? "";
    if (mark < 0 && !first && words !== "") return "none";
    if (mark === 0 && words.trim() !== "") return "none";
    if (words.length > longestWords) return "none";
    if (mark < 0 && words.trim() !== "") {
      if (!mayBeWords(words)) return "none";
      channel = words;
    }
    if (mark === channelMark) channel = words;
    at += words.length;
    const rest = text.slice(at);
    if (rest === "") return "wait";
    const next = channelMarks.findIndex((each) => rest.startsWith(each));
    if (next < 0) return channelMarks.some((each, index) => index > mark && each.startsWith(rest)) ? "wait" : "none";
    if (next <= mark || (next === lastMark && mark < 0 && !first)) return "none";
    mark = next;
    at += (channelMarks[next] ?? "").length;
    if (mark < lastMark) continue;
    const name = /^\s*(\w*)/.exec(channel)?.[1];
    return { length: at, kind: name === "analysis" ? "reasoning" : "text" };
  }
}

/** Whether a header's words may begin so, the mark before them being the prompt's. */
function mayBeWords(words: string): boolean {
  const begun = words.trimStart();
  return barewordStarts.some((each) => each.startsWith(begun) || (begun.startsWith(each) && barewords.test(words)));
}

/** What leads to a channel of the assistant; `first`: the prompt has just opened its turn. */
export function channelHeader(kind: "reasoning" | "text", first: boolean): string {
  return `${first ? "" : "<|end|><|start|>assistant"}<|channel|>${kind === "reasoning" ? "analysis" : "final"}<|message|>`;
}

/** Begins inside a header ("open"), or inside the text of a channel. */
export function createChannelSplitter(start: ThinkingStart): ThinkingSplitter {
  let kind: "reasoning" | "text" = start === "reasoning" ? "reasoning" : "text";
  let state: "first" | "begun" | "text" = start === "open" ? "first" : "begun";
  const held = createHeld();
  const { take } = held;

  /** White space before a header is not part of a thought. */
  const takeText = (pieces: Piece[], end: number): void =>
    take(pieces, kind, kind === "text" ? end : held.text.slice(0, end).trimEnd().length);

  const step = (pieces: Piece[]): boolean => {
    if (state === "first") {
      const header = readHeader(held.text, true);
      if (header === "wait") return false;
      state = "begun";
      if (header === "none") return true;
      take(pieces, "markup", header.length);
      kind = header.kind;
      return true;
    }
    if (state === "begun") {
      take(pieces, "markup", held.blank());
      if (held.text === "") return false;
      state = "text";
    }
    for (let at = held.text.indexOf("<"); at >= 0; at = held.text.indexOf("<", at + 1)) {
      const header = readHeader(held.text.slice(at), false);
      if (header === "none") continue;
      takeText(pieces, at);
      if (header === "wait") return false;
      // With the white space before it, which is no part of a thought.
      take(pieces, "markup", held.blank() + header.length);
      kind = header.kind;
      state = "begun";
      return true;
    }
    takeText(pieces, held.text.length);
    return false;
  };

  return {
    get inside() {
      return kind === "reasoning" && state !== "first";
    },
    get place() {
      return state === "first" ? "open" : kind;
    },
    push: (text) => pushThrough(held, text, step),
    flush: () => {
      const pieces: Piece[] = [];
      // A header that was cut off says nothing to anybody.
      take(pieces, cutHeader.test(held.text) ? "markup" : kind, held.text.length);
      return pieces;
    },
  };
}
