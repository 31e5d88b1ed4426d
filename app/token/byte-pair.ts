/**
 * BPE by ranked merges, in two forms: on bytes (tokenizer.ggml.model "gpt2"), and on characters with `<0x00>` … `<0xFF>` for those that the
 * vocabulary does not have ("gemma4").
 */
import type { Vocabulary } from "../engine.ts";
import { unmapBytes } from "./byte-map.ts";
import { createByteTable } from "./byte-table.ts";
import { type Joiner, mergeSymbols } from "./merge.ts";
import { createPairTable } from "./pair-table.ts";
import { cachePieces } from "./piece-cache.ts";
import { type PreTokenizer, splitPieces } from "./pre-tokenizer.ts";
import { checkOffsets, malformed, readByteTokens, spaceMark, specialIdOf, type TokenBytes } from "./token-bytes.ts";
import { writeUtf8 } from "./utf8.ts";
import { createWordCutter } from "./word-cutter.ts";

export interface TextEncoding {
  /** Appends the ids of `text`, in which no special token is looked for: all that lies between two of them, or an end. */
  encode(text: string, ids: number[]): void;
}

/** A character that is no symbol is this minus its code point: below zero, and never -1, which the merge loop keeps for itself. */
const strangerOffset = -2;

/** `form`: what a piece is made of before merging. */
export function createBytePair(
  vocabulary: Vocabulary,
  tokens: TokenBytes,
  pre: PreTokenizer,
  form: "bytes" | "characters",
): TextEncoding {
  const { count, offsets } = tokens;
  const { bytes: mergeSource, offsets: mergeOffsets } = vocabulary.merges;
  checkOffsets("merges", mergeSource, mergeOffsets);
  const mergeCount = Math.max(0, mergeOffsets.length - 1);

  // Symbols are token ids; merge parts that are no token get ids behind them, and their bytes stand behind the tokens'.
  const store = tokens.store;
  const extraStarts: number[] = [];
  let end = offsets[count] as number;
  const table = createByteTable(store, count + 256);
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
  const byteTokens = form === "bytes" ? null : readByteTokens(tokens);
  if (byteTokens === null) {
    for (let byte = 0; byte < 256; byte++) {
      store[end] = byte;
      byteSymbols[byte] = intern(end + 1);
    }
  }
  /** Writes a part of a merge at store[at..]; the index behind it, or -1 when no text can ever have it. */
  const readPart = (from: number, to: number, at: number): number => {
    if (form === "bytes") return unmapBytes(mergeSource, from, to, store, at);
    store.set(mergeSource.subarray(from, to), at);
    return at + to - from;
  };
  /** For parts that are no tokens: each gets a symbol, and its bytes are kept. */
  const internAll = (from: number, space: number, to: number): [number, number, number] => {
    const left = intern(readPart(from, space, end));
    const right = intern(readPart(space + 1, to, end));
    const length = endOf(left) - startOf(left);
    store.copyWithin(end, startOf(left), endOf(left));
    store.copyWithin(end + length, startOf(right), endOf(right));
    return [left, right, intern(end + length + endOf(right) - startOf(right))];
  };

  /** Whether store[from..to] is that token, which merges can make. */
  const isToken = (id: number, from: number, to: number): boolean => {
    if (id < 0 || id >= count || tokens.mergeable[id] !== 1) return false;
    const start = offsets[id] as number;
    if ((offsets[id + 1] as number) - start !== to - from) return false;
    for (let i = from; i < to; i++) if (store[i] !== store[start + i - from]) return false;
    return true;
  };

  const pairs = createPairTable(mergeCount);
  let shift = 0;
  for (let rank = 0; rank < mergeCount; rank++) {
    const from = mergeOffsets[rank] as number;
    const to = mergeOffsets[rank + 1] as number;
    let space = from + 1;
    while (space < to && mergeSource[space] !== 0x20) space++;
    if (space >= to - 1) throw malformed(`Merge ${rank} of the tokenizer has no two parts`, { merge: rank });
    const middle = readPart(from, space, end);
    const behind = middle < 0 ? -1 : readPart(space + 1, to, middle);
    if (behind < 0) continue;
    // Both parts stand one behind the other now, so the product's bytes are there too.
    const left = table.find(store, end, middle);
    const right = table.find(store, middle, behind);
    // Most files number the products in the order of their merges; a look there costs less than a search.
    const result = isToken(rank + shift, end, behind) ? rank + shift : table.find(store, end, behind);
    if (result >= 0) shift = result - rank;
    if (left >= 0 && right >= 0 && result >= 0) pairs.add(left, right, rank, result);
    else {
      const made = internAll(from, space, to);
      pairs.add(made[0], made[1], rank, made[2]);
    }
  }

  const joiner: Joiner = {
    priority: (left, right) => {
      const rank = pairs.rank(left, right);
      return rank < 0 ? Number.POSITIVE_INFINITY : rank;
    },
    join: (left, right) => pairs.result(pairs.rank(left, right)),
  };
  const unknown = specialIdOf(vocabulary, "unknown");
  let scratch = new Uint8Array(256);
  let symbols = new Int32Array(256);

  const emitByte = (byte: number, ids: number[]): void => {
    const symbol = byteTokens === null ? (byteSymbols[byte] as number) : (byteTokens[byte] ?? count);
    if (symbol < count) ids.push(symbol);
    else if (unknown !== null) ids.push(unknown);
  };

  const emit = (symbol: number, ids: number[]): void => {
    if (symbol >= 0 && symbol < count) ids.push(symbol);
    else if (symbol >= count)
      for (let at = startOf(symbol); at < endOf(symbol); at++) emitByte(store[at] as number, ids);
    else {
      const length = writeUtf8(String.fromCodePoint(strangerOffset - symbol), scratch, 0);
      for (let at = 0; at < length; at++) emitByte(scratch[at] as number, ids);
    }
  };

  /** Cuts scratch[0..length] into first symbols and returns how many. */
  const firstSymbols = (piece: string, length: number): number => {
    if (form === "bytes") {
      for (let i = 0; i < length; i++) symbols[i] = byteSymbols[scratch[i] as number] as number;
      return length;
    }
    let made = 0;
    let at = 0;
    for (const character of piece) {
      const code = character.codePointAt(0) as number;
      const behind = at + (code < 0x80 ? 1 : code < 0x800 ? 2 : code < 0x10000 ? 3 : 4);
      const symbol = table.find(scratch, at, behind);
      // In no merge either, so it only has to be told apart.
      symbols[made++] = symbol < 0 ? strangerOffset - code : symbol;
      at = behind;
    }
    return made;
  };

  const encodePiece = (piece: string, ids: number[]): void => {
    if (piece.length * 3 > scratch.length) {
      scratch = new Uint8Array(piece.length * 4);
      symbols = new Int32Array(piece.length * 4);
    }
    const length = writeUtf8(piece, scratch, 0);
    // Merges never hold a line break in the second form; runs of them are entries of their own.
    if (pre.ignoreMerges || (form === "characters" && piece.startsWith("\n"))) {
      const whole = table.find(scratch, 0, length);
      if (whole >= 0 && whole < count) {
        ids.push(whole);
        return;
      }
    }
    const left = mergeSymbols(symbols, firstSymbols(piece, length), joiner);
    for (let i = 0; i < left; i++) emit(symbols[i] as number, ids);
  };

  const take = cachePieces(encodePiece);
  if (form === "bytes") {
    return { encode: (text, ids) => splitPieces(text, pre.expressions, (piece) => take(piece, ids)) };
  }
  const cut = createWordCutter(tokens, (id) => tokens.mergeable[id] === 1);
  return {
    encode: (text, ids) => {
      const word = (piece: string): void => take(piece, ids);
      splitPieces(text.replaceAll(" ", spaceMark), pre.expressions, (line) => cut(line, word));
    },
  };
}

/** Most bytes that merge parts and results can need behind the tokens' own. */
export function spareBytes(vocabulary: Vocabulary): number {
  return 256 + vocabulary.merges.bytes.length * 2 + 16;
}
