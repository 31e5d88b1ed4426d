import type { EventPayload } from "../../app/contract/event.ts";
import type { Block } from "../../app/contract/message.ts";

export type Delta = EventPayload<"message.delta">;

function emptyBlock(type: Delta["type"]): Block {
  return type === "text" ? { type, text: "" } : { type, text: "", finished: false, milliseconds: null, tokens: null };
}

/**
 * `blocks` with the delta applied, the same array when it brings nothing new, or null when text before it is missing. A delta may
 * overlap what is there: a session opened in mid-reply already holds a part of what is still on its way.
 */
export function applyDelta(blocks: readonly Block[], delta: Delta): readonly Block[] | null {
  if (delta.block > blocks.length) return null;
  const current = blocks[delta.block] ?? emptyBlock(delta.type);
  if (current.type !== delta.type || delta.offset > current.text.length) return null;
  const fresh = delta.text.slice(current.text.length - delta.offset);
  if (fresh === "" && delta.block < blocks.length) return blocks;
  const next = blocks.slice();
  const previous = next[delta.block - 1];
  if (previous?.type === "reasoning" && !previous.finished) next[delta.block - 1] = { ...previous, finished: true };
  next[delta.block] = { ...current, text: current.text + fresh };
  return next;
}

function length(blocks: readonly Block[]): number {
  return blocks.reduce((sum, block) => sum + block.text.length, 0);
}

/** The further of two copies of one streaming reply: what the stream brought, or what main's document says. */
export function furtherOf(live: readonly Block[], stored: readonly Block[]): readonly Block[] {
  return length(live) > length(stored) ? live : stored;
}
