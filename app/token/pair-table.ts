/** A hash table from a pair of symbols to the rank of their merge and the symbol it makes. */
export interface PairTable {
  /** The rank of merging `left` with `right`, or -1. */
  rank(left: number, right: number): number;
  /** The symbol that the merge of this rank makes. */
  result(rank: number): number;
  /** The first merge of a pair counts; a later one is ignored. */
  add(left: number, right: number, rank: number, result: number): void;
}

/** A slot is [left, right, rank + 1] and a spare, side by side; 0 in the third place is a free slot. */
const width = 4;

/** `capacity` is the most ranks there are. */
export function createPairTable(capacity: number): PairTable {
  let size = 16;
  while (size < capacity * 2) size *= 2;
  const mask = size * width - 1;
  const slots = new Int32Array(size * width);
  const results = new Int32Array(capacity);

  const slotOf = (left: number, right: number): number => {
    let hash = Math.imul(left, 0x9e3779b1) ^ Math.imul(right, 0x85ebca6b);
    hash ^= hash >>> 15;
    let at = (hash * width) & mask;
    while (slots[at + 2] !== 0 && (slots[at] !== left || slots[at + 1] !== right)) {
      at = (at + width) & mask;
    }
    return at;
  };

  return {
    rank: (left, right) => (slots[slotOf(left, right) + 2] as number) - 1,
    result: (rank) => results[rank] as number,
    add: (left, right, rank, result) => {
      const at = slotOf(left, right);
      results[rank] = result;
      if (slots[at + 2] !== 0) return;
      slots[at] = left;
      slots[at + 1] = right;
      slots[at + 2] = rank + 1;
    },
  };
}
