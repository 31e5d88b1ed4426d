/** What the merge loop asks for pairs of symbols, with the answers of before kept: the same few thousand pairs come again and again. */
import type { Joiner } from "./merge.ts";

export interface Pairing extends Joiner {
  /** Forgets all answers; for when symbols have changed their meaning. */
  clear(): void;
}

/** Places for kept answers; a megabyte of them. Small vocabularies have fewer. */
const mostPlaces = 1 << 16;

/**
 * `tokens`: the size of the vocabulary. `ranks`: one more than the largest rank. `rankOf`: the rank of a pair, or -1; `product`: the symbol of a pair that has one. A place is
 * [left, right, rank, product]; a newer pair takes the place of an older one.
 */
export function createPairing(
  tokens: number,
  ranks: number,
  rankOf: (left: number, right: number) => number,
  product: (left: number, right: number) => number,
): Pairing {
  let places = 256;
  while (places < tokens * 4 && places < mostPlaces) places *= 2;
  const kept = new Int32Array(places * 4).fill(-1);

  const locate = (left: number, right: number): number => {
    const mixed = Math.imul(left, 0x9e3779b1) ^ Math.imul(right, 0x85ebca6b);
    const at = ((mixed ^ (mixed >>> 15)) & (places - 1)) * 4;
    if (kept[at] !== left || kept[at + 1] !== right) {
      const rank = rankOf(left, right);
      kept[at + 3] = rank < 0 ? -1 : product(left, right);
      kept[at] = left;
      kept[at + 1] = right;
      kept[at + 2] = rank;
    }
    return at;
  };

  return {
    ranks,
    rank: (left, right) => kept[locate(left, right) + 2] as number,
    join: (left, right) => kept[locate(left, right) + 3] as number,
    clear: () => {
      kept.fill(-1);
    },
  };
}
