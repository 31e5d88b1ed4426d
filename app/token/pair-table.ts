/** A hash table from a pair of symbols to the rank of their merge and the symbol it makes. */
export interface PairTable {
  /** The rank of merging `left` with `right`, or -1. */
  rank(left: number, right: number): number;
  /** The symbol that the merge of this rank makes. */
  result(rank: number): number;
  /** The first merge of a pair counts; a later one is ignored. */
  add(left: number, right: number, rank: number, result: number): void;
}

export function createPairTable(capacity: number): PairTable {
  let size = 16;
  while (size < capacity * 2) size *= 2;
  const mask = size - 1;
  const lefts = new Int32Array(size);
  const rights = new Int32Array(size);
  const ranks = new Int32Array(size).fill(-1);
  const results = new Int32Array(capacity);

  const slotOf = (left: number, right: number): number => {
    let hash = Math.imul(left, 0x9e3779b1) ^ Math.imul(right, 0x85ebca6b);
    hash ^= hash >>> 15;
    let slot = hash & mask;
    while ((ranks[slot] as number) >= 0 && (lefts[slot] !== left || rights[slot] !== right)) slot = (slot + 1) & mask;
    return slot;
  };

  return {
    rank: (left, right) => ranks[slotOf(left, right)] as number,
    result: (rank) => results[rank] as number,
    add: (left, right, rank, result) => {
      const slot = slotOf(left, right);
      results[rank] = result;
      if ((ranks[slot] as number) >= 0) return;
      lefts[slot] = left;
      rights[slot] = right;
      ranks[slot] = rank;
    },
  };
}
