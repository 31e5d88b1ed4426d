/** The ranks of a vocabulary's merges by the bytes of their two parts. Only hashes are taken when it is made; texts are compared on a find. */
import type { PackedStrings } from "../engine.ts";
import { unmapByte } from "./byte-map.ts";
import { createStepLimit, extendHash, hashBytes, mixBits, type SymbolTable, slotCount } from "./symbol-table.ts";
import { checkOffsets, malformed } from "./token-bytes.ts";

export interface MergeTable {
  count: number;
  /** The rank of merging `left` with `right`, or -1. The first of two equal merges counts. */
  rank(left: number, right: number): number;
}

/** `mapped`: the merges are stored in the characters of byte-level BPE. Throws tokenizer.malformed. */
export function createMergeTable(merges: PackedStrings, mapped: boolean, symbols: SymbolTable): MergeTable {
  const { bytes: source, offsets } = merges;
  checkOffsets("merges", source, offsets);
  const count = Math.max(0, offsets.length - 1);
  const keys = new Int32Array(count);
  const size = slotCount(count);
  const mask = size - 1;
  /** rank + 1; 0 is a free slot. */
  const slots = new Int32Array(size);

  const equal = (one: number, other: number): boolean => {
    const from = offsets[one] as number;
    const second = offsets[other] as number;
    const length = (offsets[one + 1] as number) - from;
    if ((offsets[other + 1] as number) - second !== length) return false;
    for (let i = 0; i < length; i++) if (source[from + i] !== source[second + i]) return false;
    return true;
  };

  const spend = createStepLimit(count);
  for (let rank = 0; rank < count; rank++) {
    const from = offsets[rank] as number;
    const to = offsets[rank + 1] as number;
    let space = from + 1;
    while (space < to && source[space] !== 0x20) space++;
    if (space >= to - 1) throw malformed(`Merge ${rank} of the tokenizer has no two parts`, { merge: rank });
    const left = hashPart(source, from, space, mapped);
    const right = hashPart(source, space + 1, to, mapped);
    // Characters that stand for no byte: no text can ever have them.
    if (left === null || right === null) continue;
    const key = keyOf(left, right);
    keys[rank] = key;
    let at = mixBits(key) & mask;
    let steps = 0;
    while (slots[at] !== 0 && !(keys[(slots[at] as number) - 1] === key && equal((slots[at] as number) - 1, rank))) {
      at = (at + 1) & mask;
      steps++;
    }
    spend(steps);
    if (slots[at] === 0) slots[at] = rank + 1;
  }

  /** Whether source[at..] begins with these bytes: the index behind them, or -1. */
  const matchPart = (part: Uint8Array, at: number, to: number): number => {
    let from = at;
    for (let i = 0; i < part.length; i++) {
      if (from >= to) return -1;
      let code = source[from++] as number;
      if (mapped) {
        if (code >= 0x80) code = ((code & 0x1f) << 6) | ((source[from++] as number) & 0x3f);
        code = unmapByte(code);
      }
      if (code !== part[i]) return -1;
    }
    return from;
  };

  const matches = (rank: number, left: number, right: number): boolean => {
    const to = offsets[rank + 1] as number;
    const middle = matchPart(symbols.bytesOf(left), offsets[rank] as number, to);
    return middle >= 0 && source[middle] === 0x20 && matchPart(symbols.bytesOf(right), middle + 1, to) === to;
  };

  return {
    count,
    rank: (left, right) => {
      const key = keyOf(symbols.hashOf(left), symbols.hashOf(right));
      for (let at = mixBits(key) & mask; slots[at] !== 0; at = (at + 1) & mask) {
        const rank = (slots[at] as number) - 1;
        if (keys[rank] === key && matches(rank, left, right)) return rank;
      }
      return -1;
    },
  };
}

function keyOf(left: number, right: number): number {
  return (Math.imul(left, 0x9e3779b1) + Math.imul(right, 0x85ebca6b) + 1) | 0;
}

/** `hashBytes` of a part's bytes; null when a character of it stands for no byte. */
function hashPart(source: Uint8Array, start: number, end: number, mapped: boolean): number | null {
  if (!mapped) return hashBytes(source, start, end);
  let hash = 0;
  for (let i = start; i < end; i++) {
    let code = source[i] as number;
    if (code >= 0x80) {
      if ((code & 0xe0) !== 0xc0 || i + 1 >= end) return null;
      code = ((code & 0x1f) << 6) | ((source[++i] as number) & 0x3f);
    }
    const byte = unmapByte(code);
    if (byte < 0) return null;
    hash = extendHash(hash, byte);
  }
  return hash;
}
