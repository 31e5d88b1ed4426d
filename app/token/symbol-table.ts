/**
 * The symbols that merges work on: the tokens that merges can make, under their ids, and behind them strings that are no tokens but that
 * merges pass through. They are found by their bytes, or by those of two symbols in a row without putting these side by side.
 */
import { malformed, type TokenBytes } from "./token-bytes.ts";

export interface SymbolTable {
  /** The symbol of `source[start..end]`, or -1. */
  find(source: Uint8Array, start: number, end: number): number;
  /** As `find`; what is new becomes a symbol. */
  intern(source: Uint8Array, start: number, end: number): number;
  /** The token that `left` and `right` make in a row, or -1. */
  findJoined(left: number, right: number): number;
  /** The symbol that `left` and `right` make in a row. */
  internJoined(left: number, right: number): number;
  /** `hashBytes` of its bytes. */
  hashOf(symbol: number): number;
  bytesOf(symbol: number): Uint8Array;
  /** How many symbols there are that are no tokens. */
  readonly extras: number;
  /** Forgets those. */
  dropExtras(): void;
}

const base = 0x01000193;

/** A polynomial in `base` modulo 2^32, so that the hash of a whole follows from the hashes of its parts. */
export function hashBytes(source: Uint8Array, start: number, end: number): number {
  let hash = 0;
  for (let i = start; i < end; i++) hash = extendHash(hash, source[i] as number);
  return hash;
}

/** The hash of a string that has one byte more. */
export function extendHash(hash: number, byte: number): number {
  return (Math.imul(hash, base) + byte + 1) | 0;
}

const powers = new Int32Array(256);
for (let i = 0, value = 1; i < powers.length; i++, value = Math.imul(value, base)) powers[i] = value;

/** `base` to the power of `exponent`, modulo 2^32. */
function power(exponent: number): number {
  if (exponent < powers.length) return powers[exponent] as number;
  const half = power(exponent >> 1);
  const square = Math.imul(half, half);
  return (exponent & 1) === 0 ? square : Math.imul(square, base);
}

/** Spreads a hash over the low bits, which choose the slot. */
export function mixBits(hash: number): number {
  const half = Math.imul(hash ^ (hash >>> 16), 0x85ebca6b);
  return half ^ (half >>> 13);
}

/** The smallest power of two with half its places free. */
export function slotCount(entries: number): number {
  let size = 16;
  while (size < entries * 2) size *= 2;
  return size;
}

/**
 * Steps that filling a table may take for its entries. A file whose strings all fall on the same place would take hours; no honest one
 * comes near.
 */
export function createStepLimit(entries: number): (steps: number) => void {
  let left = entries * 64 + 1_000_000;
  return (steps) => {
    left -= steps;
    if (left < 0)
      throw malformed(`The tokenizer's ${entries} entries cannot be told apart in reasonable time`, { entries });
  };
}

export function createSymbolTable(tokens: TokenBytes): SymbolTable {
  const { count, store, offsets, mergeable } = tokens;
  const hashes = new Int32Array(count);
  const size = slotCount(count);
  const mask = size - 1;
  /** id + 1; 0 is a free slot. */
  const slots = new Int32Array(size);

  const same = (from: number, source: Uint8Array, start: number, length: number): boolean => {
    for (let i = 0; i < length; i++) if (store[from + i] !== source[start + i]) return false;
    return true;
  };

  const spend = createStepLimit(count);
  for (let id = 0; id < count; id++) {
    const start = offsets[id] as number;
    const end = offsets[id + 1] as number;
    if (mergeable[id] !== 1 || end === start) continue;
    const hash = hashBytes(store, start, end);
    hashes[id] = hash;
    let at = mixBits(hash) & mask;
    let steps = 0;
    for (; slots[at] !== 0; at = (at + 1) & mask, steps++) {
      const other = (slots[at] as number) - 1;
      if (hashes[other] !== hash) continue;
      const from = offsets[other] as number;
      // Of equal texts the first is the one that merges make.
      if ((offsets[other + 1] as number) - from === end - start && same(from, store, start, end - start)) break;
    }
    spend(steps);
    if (slots[at] === 0) slots[at] = id + 1;
  }

  let extras = createExtras(count);

  const lengthOf = (symbol: number): number =>
    symbol < count ? (offsets[symbol + 1] as number) - (offsets[symbol] as number) : extras.bytesOf(symbol).length;
  const hashOf = (symbol: number): number => (symbol < count ? (hashes[symbol] as number) : extras.hashOf(symbol));
  const bytesOf = (symbol: number): Uint8Array => (symbol < count ? tokens.bytes(symbol) : extras.bytesOf(symbol));

  const findToken = (source: Uint8Array, start: number, end: number, hash: number): number => {
    for (let at = mixBits(hash) & mask; slots[at] !== 0; at = (at + 1) & mask) {
      const id = (slots[at] as number) - 1;
      if (hashes[id] !== hash) continue;
      const from = offsets[id] as number;
      if ((offsets[id + 1] as number) - from === end - start && same(from, source, start, end - start)) return id;
    }
    return -1;
  };

  const joinedHash = (left: number, right: number): number =>
    (Math.imul(hashOf(left), power(lengthOf(right))) + hashOf(right)) | 0;

  const findJoined = (left: number, right: number): number => {
    const hash = joinedHash(left, right);
    for (let at = mixBits(hash) & mask; slots[at] !== 0; at = (at + 1) & mask) {
      const id = (slots[at] as number) - 1;
      if (hashes[id] !== hash) continue;
      const from = offsets[id] as number;
      const head = bytesOf(left);
      const tail = bytesOf(right);
      if ((offsets[id + 1] as number) - from !== head.length + tail.length) continue;
      if (same(from, head, 0, head.length) && same(from + head.length, tail, 0, tail.length)) return id;
    }
    return -1;
  };

  const find = (source: Uint8Array, start: number, end: number): number => {
    const hash = hashBytes(source, start, end);
    const id = findToken(source, start, end, hash);
    return id >= 0 ? id : extras.find(source, start, end, hash);
  };

  return {
    find,
    intern: (source, start, end) => {
      const found = find(source, start, end);
      return found >= 0 ? found : extras.add(source.slice(start, end), hashBytes(source, start, end));
    },
    findJoined,
    internJoined: (left, right) => {
      const id = findJoined(left, right);
      if (id >= 0) return id;
      const head = bytesOf(left);
      const bytes = new Uint8Array(head.length + lengthOf(right));
      bytes.set(head);
      bytes.set(bytesOf(right), head.length);
      const hash = joinedHash(left, right);
      const found = extras.find(bytes, 0, bytes.length, hash);
      return found >= 0 ? found : extras.add(bytes, hash);
    },
    hashOf,
    bytesOf,
    get extras() {
      return extras.count();
    },
    dropExtras: () => {
      extras = createExtras(count);
    },
  };
}

interface Extras {
  count(): number;
  find(source: Uint8Array, start: number, end: number, hash: number): number;
  add(bytes: Uint8Array, hash: number): number;
  hashOf(symbol: number): number;
  bytesOf(symbol: number): Uint8Array;
}

/** Symbols from `first` on; there are few of them, so each may be an object. */
function createExtras(first: number): Extras {
  const texts: Uint8Array[] = [];
  const hashes: number[] = [];
  const byHash = new Map<number, number[]>();
  return {
    count: () => texts.length,
    find: (source, start, end, hash) => {
      const length = end - start;
      for (const symbol of byHash.get(hash) ?? []) {
        const bytes = texts[symbol - first] as Uint8Array;
        let i = 0;
        while (i < length && bytes[i] === source[start + i]) i++;
        if (i === length && bytes.length === length) return symbol;
      }
      return -1;
    },
    add: (bytes, hash) => {
      const symbol = first + texts.length;
      texts.push(bytes);
      hashes.push(hash);
      const others = byHash.get(hash);
      if (others === undefined) byHash.set(hash, [symbol]);
      else others.push(symbol);
      return symbol;
    },
    hashOf: (symbol) => hashes[symbol - first] as number,
    bytesOf: (symbol) => texts[symbol - first] as Uint8Array,
  };
}
