/**
 * Splits a reply into reasoning and answer while it streams. No character is dropped: the pieces, joined, are the reply; tags and the line
 * breaks around them are pieces of kind "markup", which are not shown.
 */
import { longestPending } from "./stop.ts";

export interface ThinkingTags {
  open: string;
  close: string;
  /** What an answer without thoughts begins with, where that is markup too. */
  answer?: string;
  /** A special token that only models with these tags have. */
  sign?: string;
}

/** By family; the first that a template or vocabulary knows is the model's. */
export const knownTags: readonly ThinkingTags[] = [
  { open: "<think>", close: "</think>" },
  { open: "[THINK]", close: "[/THINK]" },
  { open: "<|channel>thought", close: "<channel|>", sign: "<channel|>" },
  {
    open: "<|channel|>analysis<|message|>",
    close: "<|end|><|start|>assistant<|channel|>final<|message|>",
    answer: "<|channel|>final<|message|>",
    sign: "<|channel|>",
  },
  { open: "<seed:think>", close: "</seed:think>" },
  { open: "<thought>", close: "</thought>" },
];

/** A model that names no tags of its own may still have been tuned to write the common ones. */
export function findThinkingTags(template: string | null, isToken: (text: string) => boolean): ThinkingTags {
  const common = knownTags[0] as ThinkingTags;
  return (
    knownTags.find((tags) => template?.includes(tags.close) ?? false) ??
    knownTags.find((tags) =>
      tags.sign === undefined ? isToken(tags.open) && isToken(tags.close) : isToken(tags.sign),
    ) ??
    common
  );
}

export type PieceKind = "text" | "reasoning" | "markup";

export interface Piece {
  kind: PieceKind;
  text: string;
}

/** Where a reply begins: `open` may still open a think block, `reasoning` is inside one, `text` is past it. */
export type ThinkingStart = "open" | "reasoning" | "text";

/** Read off the end of the rendered prompt: some templates open the block themselves, or open and close it. */
export function thinkingStart(prompt: string, tags: ThinkingTags): ThinkingStart {
  const end = prompt.trimEnd();
  if (end.endsWith(tags.open)) return "reasoning";
  return end.endsWith(tags.close) ? "text" : "open";
}

export interface ThinkingSplitter {
  push(text: string): Piece[];
  /** What was held back as a possible tag. */
  flush(): Piece[];
  /** Inside a think block now; at the end: it was never closed. */
  readonly inside: boolean;
}

export function createThinkingSplitter(tags: ThinkingTags, start: ThinkingStart): ThinkingSplitter {
  // "opened" and "closed" swallow the line breaks that belong to a tag.
  let state: "open" | "opened" | "reasoning" | "closed" | "text" =
    start === "reasoning" ? "opened" : start === "text" ? "closed" : "open";
  let held = "";

  const take = (pieces: Piece[], kind: PieceKind, length: number): void => {
    if (length === 0) return;
    const text = held.slice(0, length);
    held = held.slice(length);
    const last = pieces[pieces.length - 1];
    if (last !== undefined && last.kind === kind) last.text += text;
    else pieces.push({ kind, text });
  };
  const blank = (): number => held.length - held.trimStart().length;

  const step = (pieces: Piece[]): boolean => {
    if (state === "open") {
      const lead = blank();
      const rest = held.slice(lead);
      if (rest.startsWith(tags.open)) {
        take(pieces, "markup", lead + tags.open.length);
        state = "opened";
      } else if (tags.answer !== undefined && rest.startsWith(tags.answer)) {
        take(pieces, "markup", lead + tags.answer.length);
        state = "closed";
      } else if (tags.open.startsWith(rest) || tags.answer?.startsWith(rest)) return false;
      else state = "text";
      return true;
    }
    if (state === "opened" || state === "closed") {
      take(pieces, "markup", blank());
      if (held === "") return false;
      state = state === "opened" ? "reasoning" : "text";
      return true;
    }
    if (state === "reasoning") {
      const at = held.indexOf(tags.close);
      if (at >= 0) {
        take(pieces, "reasoning", held.slice(0, at).trimEnd().length);
        take(pieces, "markup", held.indexOf(tags.close) + tags.close.length);
        state = "closed";
        return true;
      }
      // White space may turn out to stand before the closing tag.
      const certain = held.slice(0, held.length - longestPending(held, [tags.close])).trimEnd().length;
      take(pieces, "reasoning", certain);
      return false;
    }
    take(pieces, "text", held.length);
    return false;
  };

  return {
    get inside() {
      return state === "opened" || state === "reasoning";
    },
    push: (text) => {
      held += text;
      const pieces: Piece[] = [];
      while (step(pieces)) {
        // Each step that says true has moved on to another state.
      }
      return pieces;
    },
    flush: () => {
      const pieces: Piece[] = [];
      take(pieces, state === "opened" || state === "reasoning" ? "reasoning" : "text", held.length);
      return pieces;
    },
  };
}
