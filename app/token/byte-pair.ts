/**
 * BPE by ranked merges, in two forms: on bytes (tokenizer.ggml.model "gpt2"), and on characters with `<0x00>` … `<0xFF>` for those that the
 * vocabulary does not have ("gemma4").
 */
import type { Vocabulary } from "../engine.ts";
import { createMerger } from "./merge.ts";
import { createMergeTable } from "./merge-table.ts";
import { toNormalForm } from "./normal-form.ts";
import { createPairing } from "./pairing.ts";
import { cachePieces } from "./piece-cache.ts";
import { type PreTokenizer, splitPieces } from "./pre-tokenizer.ts";
import { createSymbolTable } from "./symbol-table.ts";
import { readByteTokens, spaceMark, specialIdOf, type TokenBytes } from "./token-bytes.ts";
import { writeUtf8 } from "./utf8.ts";
import { createWordCutter } from "./word-cutter.ts";

export interface TextEncoding {
  /** Appends the ids of `text`, in which no special token is looked for: all that lies between two of them, or an end. */
  encode(text: string, ids: number[]): void;
}

/** Strings that are no tokens are forgotten between texts when there are more of them than this. */
export const mostExtras = 1 << 16;

/** `form`: what a piece is made of before merging. */
export function createBytePair(
  vocabulary: Vocabulary,
  tokens: TokenBytes,
  pre: PreTokenizer,
  form: "bytes" | "characters",
): TextEncoding {
  const { count } = tokens;
  const table = createSymbolTable(tokens);
  const merges = createMergeTable(vocabulary.merges, form === "bytes", table);
  const pairing = createPairing(count, merges.count, merges.rank, table.internJoined);
  const merge = createMerger(pairing);
  const unknown = specialIdOf(vocabulary, "unknown");
  /** The token of each byte, where it has one. */
  const byteTokens = form === "bytes" ? null : readByteTokens(tokens);
  const byteSymbols = new Int32Array(256);
  if (byteTokens === null) {
    for (let byte = 0; byte < 256; byte++) byteSymbols[byte] = table.intern(Uint8Array.of(byte), 0, 1);
  }
  let scratch = new Uint8Array(256);
  let symbols = new Int32Array(256);

  const emitByte = (byte: number, ids: number[]): void => {
    const symbol = byteTokens === null ? (byteSymbols[byte] as number) : (byteTokens[byte] ?? count);
    if (symbol < count) ids.push(symbol);
    else if (unknown !== null) ids.push(unknown);
  };

  /** Cuts scratch[0..length] into first symbols and returns how many. */
  const firstSymbols = (length: number): number => {
    if (form === "bytes") {
      for (let i = 0; i < length; i++) symbols[i] = byteSymbols[scratch[i] as number] as number;
      return length;
    }
    let made = 0;
    for (let at = 0; at < length; ) {
      const lead = scratch[at] as number;
      const behind = at + (lead < 0x80 ? 1 : lead < 0xe0 ? 2 : lead < 0xf0 ? 3 : 4);
      symbols[made++] = table.intern(scratch, at, behind);
      at = behind;
    }
    return made;
  };

  const encodePiece = (text: string, start: number, end: number, ids: number[]): void => {
    if ((end - start) * 3 > scratch.length) {
      scratch = new Uint8Array((end - start) * 4);
      symbols = new Int32Array((end - start) * 4);
    }
    const length = writeUtf8(text, scratch, 0, start, end);
    // Merges never hold a line break in the second form; runs of them are entries of their own.
    if (pre.ignoreMerges || (form === "characters" && scratch[0] === 0x0a)) {
      const whole = table.find(scratch, 0, length);
      if (whole >= 0 && whole < count) {
        ids.push(whole);
        return;
      }
    }
    const left = merge(symbols, firstSymbols(length));
    for (let i = 0; i < left; i++) {
      const symbol = symbols[i] as number;
      if (symbol < count) ids.push(symbol);
      else for (const byte of table.bytesOf(symbol)) emitByte(byte, ids);
    }
  };

  const take = cachePieces(encodePiece, count);
  if (form === "bytes") {
    return {
      encode: (text, ids) =>
        splitPieces(pre.composes ? toNormalForm(text, "NFC") : text, pre.expressions, (part, start, end) =>
          take(part, start, end, ids),
        ),
    };
  }
  const cut = createWordCutter(tokens, (id) => tokens.mergeable[id] === 1);
  return {
    encode: (text, ids) => {
      if (table.extras > mostExtras) {
        table.dropExtras();
        pairing.clear();
      }
      splitPieces(text.replaceAll(" ", spaceMark), pre.expressions, (part, start, end) =>
        cut(part, start, end, (from, to) => take(part, from, to, ids)),
      );
    },
  };
}
