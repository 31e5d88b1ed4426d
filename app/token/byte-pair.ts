/** Byte-level BPE (tokenizer.ggml.model "gpt2"): pieces of bytes, merged by rank. */
import type { Vocabulary } from "../engine.ts";
import { unmapBytes } from "./byte-map.ts";
import { createByteTable } from "./byte-table.ts";
import { type Joiner, mergeSymbols } from "./merge.ts";
import { createPairTable } from "./pair-table.ts";
import { type PreTokenizer, splitPieces } from "./pre-tokenizer.ts";
import { checkOffsets, malformed, type TokenBytes } from "./token-bytes.ts";
import { writeUtf8 } from "./utf8.ts";

export interface TextEncoding {
  /** Appends the ids of `text`, in which no special token is looked for: all that lies between two of them, or an end. */
  encode(text: string, ids: number[]): void;
}

/** Longer pieces are rarely seen twice. */
const longestCached = 48;
const mostCached = 65_536;

export function createBytePair(vocabulary: Vocabulary, tokens: TokenBytes, pre: PreTokenizer): TextEncoding {
  const { count, offsets } = tokens;
  const { bytes: mergeSource, offsets: mergeOffsets } = vocabulary.merges;
  checkOffsets("merges", mergeSource, mergeOffsets);
  const mergeCount = Math.max(0, mergeOffsets.length - 1);

  // Symbols are token ids; merge parts that are no token get ids behind them, and their bytes stand behind the tokens'.
  const store = tokens.store;
  const extraStarts: number[] = [];
  let end = offsets[count] as number;
  const table = createByteTable(store, count + 256 + mergeCount);
  for (let id = 0; id < count; id++) {
    if (tokens.mergeable[id] === 1 && (offsets[id + 1] as number) > (offsets[id] as number))
      table.add(offsets[id] as number, offsets[id + 1] as number, id);
  }
  const startOf = (symbol: number): number =>
    symbol < count ? (offsets[symbol] as number) : (extraStarts[symbol - count] as number);
  const endOf = (symbol: number): number =>
    symbol < count ? (offsets[symbol + 1] as number) : (extraStarts[symbol - count + 1] ?? end);

  /** The symbol of the bytes that were just written at store[end..behind]; keeps them only when they are new. */
  const intern = (behind: number): number => {
    const found = table.find(store, end, behind);
    if (found >= 0) return found;
    const symbol = count + extraStarts.length;
    extraStarts.push(end);
    table.add(end, behind, symbol);
    end = behind;
    return symbol;
  };
  const byteSymbols = new Int32Array(256);
  for (let byte = 0; byte < 256; byte++) {
    store[end] = byte;
    byteSymbols[byte] = intern(end + 1);
  }

  const pairs = createPairTable(mergeCount);
  for (let rank = 0; rank < mergeCount; rank++) {
    const from = mergeOffsets[rank] as number;
    const to = mergeOffsets[rank + 1] as number;
    const space = mergeSource.indexOf(0x20, from + 1);
    if (space < 0 || space >= to - 1)
      throw malformed(`Merge ${rank} of the tokenizer has no two parts`, { merge: rank });
    const leftEnd = unmapBytes(mergeSource, from, space, store, end);
    const left = leftEnd < 0 ? -1 : intern(leftEnd);
    const rightEnd = left < 0 ? -1 : unmapBytes(mergeSource, space + 1, to, store, end);
    const right = rightEnd < 0 ? -1 : intern(rightEnd);
    // A part with characters that stand for no byte can never come up.
    if (left < 0 || right < 0) continue;
    const length = endOf(left) - startOf(left);
    store.copyWithin(end, startOf(left), endOf(left));
    store.copyWithin(end + length, startOf(right), endOf(right));
    pairs.add(left, right, rank, intern(end + length + endOf(right) - startOf(right)));
  }

  const joiner: Joiner = {
    priority: (left, right) => {
      const rank = pairs.rank(left, right);
      return rank < 0 ? Number.POSITIVE_INFINITY : rank;
    },
    join: (left, right) => pairs.result(pairs.rank(left, right)),
  };
  const unknown = vocabulary.special.unknown;
  let scratch = new Uint8Array(256);
  let symbols = new Int32Array(256);
  const cache = new Map<string, number[]>();

  const emit = (symbol: number, ids: number[]): void => {
    if (symbol < count) {
      ids.push(symbol);
      return;
    }
    for (let at = startOf(symbol); at < endOf(symbol); at++) {
      const single = byteSymbols[store[at] as number] as number;
      if (single < count) ids.push(single);
      else if (unknown !== undefined) ids.push(unknown);
    }
  };

  const encodePiece = (piece: string, ids: number[]): void => {
    if (piece.length * 3 > scratch.length) {
      scratch = new Uint8Array(piece.length * 4);
      symbols = new Int32Array(piece.length * 4);
    }
    const length = writeUtf8(piece, scratch, 0);
    if (pre.ignoreMerges) {
      const whole = table.find(scratch, 0, length);
      if (whole >= 0 && whole < count) {
        ids.push(whole);
        return;
      }
    }
    for (let i = 0; i < length; i++) symbols[i] = byteSymbols[scratch[i] as number] as number;
    const left = mergeSymbols(symbols, length, joiner);
    for (let i = 0; i < left; i++) emit(symbols[i] as number, ids);
  };

  const take = (piece: string, ids: number[]): void => {
    if (piece.length > longestCached) {
      encodePiece(piece, ids);
      return;
    }
    let known = cache.get(piece);
    if (known === undefined) {
      known = [];
      encodePiece(piece, known);
      if (cache.size >= mostCached) cache.clear();
      cache.set(piece, known);
    }
    for (const id of known) ids.push(id);
  };

  return { encode: (text, ids) => splitPieces(text, pre.expressions, (piece) => take(piece, ids)) };
}

/** Most bytes that merge parts and results can need behind the tokens' own. */
export function spareBytes(vocabulary: Vocabulary): number {
  return 256 + vocabulary.merges.bytes.length * 2 + 16;
}
