/**
 * A part that is repeated, against all tokens at once: how often it comes in each, and where in the tree something else would have to follow. Made once
 * for a part, whatever its counts, it gives the mask of any count without another look at most tokens.
 */
import type { State, States } from "./state.ts";
import type { Trie } from "./trie.ts";

export interface Repetition {
  /** Tokens that are nothing but such parts, the last perhaps unfinished, by how many they need. */
  ids: Uint32Array;
  /** ids[0 .. upTo[n]] need n parts at most; the last entry is all of them. */
  upTo: readonly number[];
  /** By first byte: nodes with it behind whole parts, and how many those are. */
  exits: readonly ({ nodes: Uint32Array; parts: Uint16Array } | undefined)[];
  /** Masks of `upTo`, as far as they were asked for. */
  masks: Map<number, Uint32Array>;
}

const mostMasks = 80;

/** `start`: of the part alone. null: where one part ends cannot always be told, or it has too many states. */
export function readRepetition(states: States, start: State, trie: Trie): Repetition | null {
  if (start.done) return null;
  const { classOf } = states.automaton;
  const path: State[] = new Array(trie.deepest + 1).fill(start);
  const parts = new Uint16Array(trie.deepest + 1);
  const byParts: number[][] = [];
  const exits: number[][] = [];
  for (let node = 0; node < trie.count; ) {
    const depth = trie.depth[node] as number;
    const byte = trie.byte[node] as number;
    const before = path[depth - 1] as State;
    const whole = parts[depth - 1] as number;
    const after = states.after(before, classOf[byte] as number);
    if (after === null) {
      if (before === start) {
        exits[byte] ??= [];
        exits[byte]?.push(node, whole);
      }
      node = trie.end[node] as number;
      continue;
    }
    // A part that could end here or go on cannot be counted.
    if (after.done && after.readers.length > 0) return null;
    path[depth] = after.done ? start : after;
    parts[depth] = after.done ? whole + 1 : whole;
    // An unfinished part counts as one.
    for (let at = trie.first[node] as number; at < (trie.first[node + 1] as number); at++) {
      byParts[whole + 1] ??= [];
      byParts[whole + 1]?.push(trie.ids[at] as number);
    }
    node++;
  }
  const upTo: number[] = [];
  const ids: number[] = [];
  for (let needed = 0; needed < Math.max(1, byParts.length); needed++) {
    for (const id of byParts[needed] ?? []) ids.push(id);
    upTo.push(ids.length);
  }
  const listed = exits.map((pairs) => ({
    nodes: Uint32Array.from(pairs.filter((_, at) => at % 2 === 0)),
    parts: Uint16Array.from(pairs.filter((_, at) => at % 2 === 1)),
  }));
  return { ids: Uint32Array.from(ids), upTo, exits: listed, masks: new Map() };
}

/** Tokens that need `most` parts at most. Not to be changed. */
export function maskOfParts(repetition: Repetition, most: number, words: number): Uint32Array {
  const { ids, upTo, masks } = repetition;
  const needed = Math.min(most, upTo.length - 1);
  const known = masks.get(needed);
  if (known !== undefined) return known;
  const bits = new Uint32Array(words);
  const end = upTo[needed] as number;
  for (let at = 0; at < end; at++) {
    const id = ids[at] as number;
    bits[id >>> 5] = (bits[id >>> 5] as number) | (1 << (id & 31));
  }
  if (masks.size >= mostMasks) masks.clear();
  masks.set(needed, bits);
  return bits;
}
