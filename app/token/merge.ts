/**
 * The merge loop that both kinds of BPE share: symbols in a row, the adjacent pair of the lowest rank is joined again and again, leftmost on
 * ties. Long rows are worked off rank by rank, so that a megabyte without a border costs little more than a megabyte of prose.
 */
import { createLowest } from "./lowest.ts";

export interface Joiner {
  /** One more than the largest rank. */
  ranks: number;
  /** The rank of joining `left` and `right`: a lower one comes earlier; -1 = not joinable. */
  rank(left: number, right: number): number;
  /** The symbol they make. */
  join(left: number, right: number): number;
}

/** Joins `symbols` in place and returns how many are left at the front. */
export type Merger = (symbols: Int32Array, count: number) => number;

/** Up to this length a scan is faster than bookkeeping. */
const longestShort = 32;

export function createMerger(joiner: Joiner): Merger {
  const ranks = new Int32Array(longestShort);
  let long: Merger | null = null;
  return (symbols, count) => {
    if (count <= longestShort) return mergeShort(symbols, count, joiner, ranks);
    long ??= createLongMerger(joiner);
    return long(symbols, count);
  };
}

/** `ranks` is room for the rank of each pair. */
function mergeShort(symbols: Int32Array, count: number, joiner: Joiner, ranks: Int32Array): number {
  let left = count;
  for (let i = 0; i + 1 < count; i++) ranks[i] = joiner.rank(symbols[i] as number, symbols[i + 1] as number);
  while (left > 1) {
    let best = -1;
    let at = -1;
    for (let i = 0; i + 1 < left; i++) {
      const rank = ranks[i] as number;
      if (rank >= 0 && (at < 0 || rank < best)) {
        best = rank;
        at = i;
      }
    }
    if (at < 0) break;
    symbols[at] = joiner.join(symbols[at] as number, symbols[at + 1] as number);
    left--;
    for (let i = at + 1; i < left; i++) {
      symbols[i] = symbols[i + 1] as number;
      ranks[i] = ranks[i + 1] as number;
    }
    if (at + 1 < left) ranks[at] = joiner.rank(symbols[at] as number, symbols[at + 1] as number);
    if (at > 0) ranks[at - 1] = joiner.rank(symbols[at - 1] as number, symbols[at] as number);
  }
  return left;
}

/** Room for rows up to this is kept for the next one. */
const mostKept = 1 << 18;

interface Room {
  size: number;
  /** Neighbours of a symbol in the row, and of a pair in its list. A pair is named by the position of its left symbol. */
  next: Int32Array;
  previous: Int32Array;
  below: Int32Array;
  above: Int32Array;
  /** The rank of each pair that there is now; -1 = none. */
  ranks: Int32Array;
  /** The list that is under way. */
  queue: Int32Array;
}

function createRoom(size: number): Room {
  const row = (): Int32Array => new Int32Array(size);
  return { size, next: row(), previous: row(), below: row(), above: row(), ranks: row(), queue: row() };
}

/** A late pair's key is rank * this + position. */
const positions = 2 ** 32;

/**
 * Pairs wait in a list for each rank; the lists are taken in the order of ranks, each from left to right. In an ordinary vocabulary a join only
 * makes pairs of higher ranks. Those of a rank that is already under way, or past, go to a heap of late ones, which come first.
 */
function createLongMerger(joiner: Joiner): Merger {
  /** The first position of each list; -1 = empty. */
  const heads = new Int32Array(joiner.ranks).fill(-1);
  let kept = createRoom(0);

  return (symbols, count) => {
    const room = count <= kept.size ? kept : createRoom(count + (count >> 1));
    if (room.size <= mostKept) kept = room;
    const { next, previous, below, above, ranks, queue } = room;
    const waiting = createLowest();
    const late = createLowest();
    /** The rank that is under way. */
    let current = -1;

    const link = (at: number, rank: number): void => {
      ranks[at] = rank;
      if (rank < 0) return;
      if (rank <= current) {
        late.push(rank * positions + at);
        return;
      }
      const head = heads[rank] as number;
      if (head < 0) waiting.push(rank);
      else above[head] = at;
      below[at] = head;
      above[at] = -1;
      heads[rank] = at;
    };
    /** Takes a pair that is no more out of its list. */
    const unlink = (at: number): void => {
      const rank = ranks[at] as number;
      ranks[at] = -1;
      // Lists up to `current` have been taken as a whole.
      if (rank <= current) return;
      const up = above[at] as number;
      const down = below[at] as number;
      if (up < 0) heads[rank] = down;
      else below[up] = down;
      if (down >= 0) above[down] = up;
    };
    const join = (at: number): void => {
      const right = next[at] as number;
      const after = next[right] as number;
      const before = previous[at] as number;
      unlink(at);
      unlink(right);
      const symbol = joiner.join(symbols[at] as number, symbols[right] as number);
      symbols[at] = symbol;
      next[at] = after;
      if (after < count) {
        previous[after] = at;
        link(at, joiner.rank(symbol, symbols[after] as number));
      }
      if (before >= 0) {
        unlink(before);
        link(before, joiner.rank(symbols[before] as number, symbol));
      }
    };
    /** Joins the late pairs that come before `key`. */
    const joinLate = (key: number): void => {
      while (late.least < key) {
        const first = late.pop();
        const at = first % positions;
        if (ranks[at] === Math.floor(first / positions)) join(at);
      }
    };

    ranks[count - 1] = -1;
    // From the end, so that lists stand from left to right.
    for (let i = count - 1; i >= 0; i--) {
      next[i] = i + 1;
      previous[i] = i - 1;
      if (i + 1 < count) link(i, joiner.rank(symbols[i] as number, symbols[i + 1] as number));
    }
    while (waiting.least < Number.POSITIVE_INFINITY) {
      current = waiting.pop();
      let taken = 0;
      let ascending = true;
      for (let at = heads[current] as number; at >= 0; at = below[at] as number) {
        if (taken > 0 && at < (queue[taken - 1] as number)) ascending = false;
        queue[taken++] = at;
      }
      heads[current] = -1;
      if (!ascending) queue.subarray(0, taken).sort();
      for (let i = 0; i < taken; i++) {
        const at = queue[i] as number;
        joinLate(current * positions + at);
        if (ranks[at] === current) join(at);
      }
      joinLate(Number.POSITIVE_INFINITY);
    }
    let left = 0;
    for (let i = 0; i < count; i = next[i] as number) symbols[left++] = symbols[i] as number;
    return left;
  };
}
