/**
 * Splits a reply into reasoning and answer while it streams. No character is dropped: the pieces, joined, are the reply; tags and the line
 * breaks around them are pieces of kind "markup", which are not shown.
 */
import { channelHeader, channelMarks, createChannelSplitter } from "./channel.ts";
import { createHeld, type Piece, pushThrough } from "./piece.ts";
import { longestPending } from "./stop.ts";

export interface ThinkingTags {
  open: string;
  close: string;
  /** White space behind `open`, before `close` and behind it, as the model writes it; line breaks where nothing is known. */
  spacing?: ThinkingSpacing;
  /** What an answer may begin with where that is markup too. */
  answers?: readonly string[];
  /** Markup that leads on from anywhere: to further thoughts, or to (more of) an answer. */
  turns?: readonly ThinkingTurn[];
  /** The reply is in channels, whose headers say more than these tags: channel.ts splits it. */
  channels?: boolean;
  /** A special token, or words of a template, that only models with these tags have. */
  sign?: string;
}

export type ThinkingSpacing = readonly [afterOpen: string, beforeClose: string, afterClose: string];

const usualSpacing: ThinkingSpacing = ["\n", "\n", "\n\n"];
const none: ThinkingSpacing = ["", "", ""];

export function spacingOf(tags: ThinkingTags): ThinkingSpacing {
  return tags.spacing ?? usualSpacing;
}

export interface ThinkingTurn {
  markup: string;
  to: "reasoning" | "text";
}

/** By family; the first that a template or vocabulary knows is the model's, those with a sign before those without. */
export const knownTags: readonly ThinkingTags[] = [
  {
    open: "<think>",
    close: "</think>",
    answers: ["<response>"],
    turns: [{ markup: "</response>", to: "text" }],
    sign: "<response>",
  },
  { open: "<think>", close: "</think>" },
  { open: "[THINK]", close: "[/THINK]", spacing: none },
  { open: "<|channel>thought", close: "<channel|>", spacing: ["\n", "\n", ""], sign: "<channel|>" },
  {
    open: channelHeader("reasoning", true),
    close: channelHeader("text", false),
    spacing: none,
    answers: [channelHeader("text", true), "<|channel|>commentary<|message|>"],
    channels: true,
    sign: "<|channel|>",
  },
  { open: "<|START_THINKING|>", close: "<|END_THINKING|>", spacing: none, sign: "<|START_THINKING|>" },
  {
    open: "<|open|>think<|sep|>",
    close: "<|close|>think<|sep|>",
    spacing: none,
    answers: ["<|open|>response<|sep|>"],
    turns: [{ markup: "<|close|>response<|sep|>", to: "text" }],
    sign: "<|open|>",
  },
  {
    open: "<|think|>",
    close: "<|end|>",
    spacing: none,
    answers: ["<|begin|>assistant<|content|>", "<|content|>"],
    turns: [{ markup: "<|end|>", to: "text" }],
    sign: "<|begin|>",
  },
  { open: "<|inner_prefix|>", close: "<|inner_suffix|>", spacing: none, sign: "<|inner_prefix|>" },
  { open: "Here are my reasoning steps:", close: "[BEGIN FINAL RESPONSE]", sign: "[BEGIN FINAL RESPONSE]" },
  { open: "Here is my thought process:", close: "Here is my response:", sign: "Here is my thought process:" },
  { open: "<seed:think>", close: "</seed:think>" },
  { open: "<thought>", close: "</thought>" },
];

/** Every string that is markup. */
export function markupOf(tags: ThinkingTags): string[] {
  const turns = (tags.turns ?? []).map(({ markup }) => markup);
  return [tags.open, tags.close, ...(tags.answers ?? []), ...turns, ...(tags.channels ? channelMarks : [])];
}

/** A model that names no tags of its own may still have been tuned to write the common ones. */
export function findThinkingTags(template: string | null, isToken: (text: string) => boolean): ThinkingTags {
  return (
    tagsInTemplate(template ?? "") ??
    knownTags.find((tags) =>
      tags.sign === undefined ? isToken(tags.open) && isToken(tags.close) : isToken(tags.sign),
    ) ??
    commonTags
  );
}

export const commonTags: ThinkingTags = { open: "<think>", close: "</think>" };

/** By the tags that a template's source holds. */
export function tagsInTemplate(source: string): ThinkingTags | null {
  const signed = (tags: ThinkingTags): boolean => tags.sign === undefined || source.includes(tags.sign);
  return (
    knownTags.find((tags) => source.includes(tags.close) && signed(tags)) ??
    knownTags.find((tags) => tags.sign !== undefined && source.includes(tags.open) && signed(tags)) ??
    null
  );
}

const anyTag = String.raw`<[^<>\s]{1,40}>|\[[^[\]\s]{1,40}\]`;
const tagBehind = new RegExp(`(?:${anyTag})$`);
const tagAhead = new RegExp(`^(?:${anyTag})`);

/**
 * The tags around a thought in a rendered prompt; null when it is not there, or nothing that looks like tags is around it. `without` is the same
 * prompt without thoughts: what stands there too is no tag of theirs, unless a family is known for it.
 */
export function findTagsAround(prompt: string, thought: string, without: string): ThinkingTags | null {
  const at = prompt.indexOf(thought);
  if (at < 0) return null;
  const before = prompt.slice(0, at).trimEnd();
  const after = prompt.slice(at + thought.length).trimStart();
  const known = knownTags.find(
    (tags) =>
      before.endsWith(tags.open) &&
      after.startsWith(tags.close) &&
      (tags.sign === undefined || prompt.includes(tags.sign)),
  );
  const spaceIn = (text: string): string => /^\s*/.exec(text)?.[0] ?? "";
  const spacing = (close: string): ThinkingSpacing => {
    const rest = prompt.slice(at + thought.length);
    const tail = spaceIn(rest);
    return [prompt.slice(before.length, at), tail, spaceIn(rest.slice(tail.length + close.length))];
  };
  if (known !== undefined) return { ...known, spacing: spacing(known.close) };
  const open = tagBehind.exec(before)?.[0];
  const close = tagAhead.exec(after)?.[0];
  if (open === undefined || close === undefined) return null;
  // A pair by name is one of thoughts, even where the instructions name it too.
  const paired = close === `${open.slice(0, 1)}/${open.slice(1)}`;
  return paired || (open !== close && !without.includes(open)) ? { open, close, spacing: spacing(close) } : null;
}

/** Where a reply begins: `open` may still open a think block, `reasoning` is inside one, `text` is past it. */
export type ThinkingStart = "open" | "reasoning" | "text";

/** Read off the end of the rendered prompt: some templates open the block themselves, or open and close it. */
export function thinkingStart(prompt: string, tags: ThinkingTags): ThinkingStart {
  const end = prompt.trimEnd();
  if (end.endsWith(tags.open)) return "reasoning";
  return [tags.close, ...(tags.answers ?? [])].some((markup) => end.endsWith(markup)) ? "text" : "open";
}

export interface ThinkingSplitter {
  push(text: string): Piece[];
  /** What was held back as a possible tag. */
  flush(): Piece[];
  /** Inside a think block now; at the end: it was never closed. */
  readonly inside: boolean;
  /** Where it is now. */
  readonly place: ThinkingStart;
}

export function createThinkingSplitter(tags: ThinkingTags, start: ThinkingStart): ThinkingSplitter {
  if (tags.channels) return createChannelSplitter(start);
  // "opened" and "closed" swallow the line breaks that belong to a tag.
  let state: "open" | "opened" | "reasoning" | "closed" | "text" =
    start === "reasoning" ? "opened" : start === "text" ? "closed" : "open";
  const held = createHeld();
  const { take, blank } = held;

  const answers = tags.answers ?? [];
  /** What ends a think block, and what leads on from an answer. */
  const fromThought = [{ markup: tags.close, to: "text" as const }, ...(tags.turns ?? [])];
  const fromAnswer = tags.turns ?? [];

  /** Takes one of `heads` off the front as markup; "wait" while what is held may still become one. */
  const takeHead = (pieces: Piece[], heads: readonly string[], lead: number): "taken" | "wait" | "none" => {
    const rest = held.text.slice(lead);
    const head = heads.find((each) => rest.startsWith(each));
    if (head !== undefined) {
      take(pieces, "markup", lead + head.length);
      return "taken";
    }
    return heads.some((each) => each.startsWith(rest)) ? "wait" : "none";
  };
  /** Up to the first turn, and over it; false when there is none yet. */
  const takeTurn = (pieces: Piece[], kind: "text" | "reasoning", turns: readonly ThinkingTurn[]): boolean => {
    let first = -1;
    let turn: ThinkingTurn | null = null;
    for (const each of turns) {
      const at = held.text.indexOf(each.markup);
      if (at < 0 || (first >= 0 && at >= first)) continue;
      first = at;
      turn = each;
    }
    const before = (end: number): number => (kind === "text" ? end : held.text.slice(0, end).trimEnd().length);
    if (turn === null) {
      // White space may turn out to stand before the closing tag.
      const pending = longestPending(
        held.text,
        turns.map(({ markup }) => markup),
      );
      take(pieces, kind, before(held.text.length - pending));
      return false;
    }
    take(pieces, kind, before(first));
    take(pieces, "markup", held.text.indexOf(turn.markup) + turn.markup.length);
    state = turn.to === "text" ? "closed" : "opened";
    return true;
  };

  const step = (pieces: Piece[]): boolean => {
    if (state === "open") {
      const lead = blank();
      const opened = takeHead(pieces, [tags.open], lead);
      if (opened === "taken") {
        state = "opened";
        return true;
      }
      const answered = takeHead(pieces, answers, lead);
      if (answered === "taken") {
        state = "closed";
        return true;
      }
      if (opened === "wait" || answered === "wait") return false;
      state = "text";
      return true;
    }
    if (state === "opened" || state === "closed") {
      take(pieces, "markup", blank());
      if (held.text === "") return false;
      if (state === "closed") {
        const head = takeHead(pieces, answers, 0);
        if (head === "taken") return true;
        if (head === "wait") return false;
      }
      state = state === "opened" ? "reasoning" : "text";
      return true;
    }
    return state === "reasoning" ? takeTurn(pieces, "reasoning", fromThought) : takeTurn(pieces, "text", fromAnswer);
  };

  return {
    get inside() {
      return state === "opened" || state === "reasoning";
    },
    get place() {
      if (state === "open") return "open";
      return state === "closed" || state === "text" ? "text" : "reasoning";
    },
    push: (text) => pushThrough(held, text, step),
    flush: () => {
      const pieces: Piece[] = [];
      take(pieces, state === "opened" || state === "reasoning" ? "reasoning" : "text", held.text.length);
      return pieces;
    },
  };
}
