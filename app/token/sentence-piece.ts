/** SentencePiece-style BPE (tokenizer.ggml.model "llama"): characters, merged by the score of what they make, bytes as a last resort. */
import type { Vocabulary } from "../engine.ts";
import type { TextEncoding } from "./byte-pair.ts";
import { createByteTable } from "./byte-table.ts";
import { type Joiner, mergeSymbols } from "./merge.ts";
import { cachePieces } from "./piece-cache.ts";
import { malformed, readByteTokens, spaceMark, specialIdOf, type TokenBytes, tokenType } from "./token-bytes.ts";
import { encodeUtf8, writeUtf8 } from "./utf8.ts";
import { createWordCutter } from "./word-cutter.ts";

export function createSentencePiece(vocabulary: Vocabulary, tokens: TokenBytes, spacePrefix: boolean): TextEncoding {
  const { count, store, offsets } = tokens;
  const scores = vocabulary.scores;
  if (scores.length !== count) {
    throw malformed(`The tokenizer has ${count} tokens but ${scores.length} scores`, {
      tokens: count,
      scores: scores.length,
    });
  }
  const table = createByteTable(store, count);
  const counts = (id: number): boolean => {
    const type = tokens.types[id];
    return type !== tokenType.control && type !== tokenType.unknown && type !== tokenType.byte;
  };
  for (let id = 0; id < count; id++) {
    const start = offsets[id] as number;
    const end = offsets[id + 1] as number;
    if (counts(id) && end > start) table.add(start, end, id);
  }
  const byteTokens = readByteTokens(tokens);
  const unknown = specialIdOf(vocabulary, "unknown") ?? 0;
  let pair = new Uint8Array(64);

  const encodeWord = (word: string, ids: number[]): void => {
    const characters = Array.from(word);
    // Symbols are token ids; a character that is no token gets an id behind them for the time of this call.
    const strangers: Uint8Array[] = [];
    const strangerIds = new Map<string, number>();
    const symbols = new Int32Array(characters.length);
    const bytesOf = (symbol: number): Uint8Array =>
      symbol < count ? tokens.bytes(symbol) : (strangers[symbol - count] as Uint8Array);
    for (let i = 0; i < characters.length; i++) {
      const character = characters[i] as string;
      const length = writeUtf8(character, pair, 0);
      let symbol = table.find(pair, 0, length);
      if (symbol < 0) symbol = strangerIds.get(character) ?? -1;
      if (symbol < 0) {
        symbol = count + strangers.length;
        strangers.push(encodeUtf8(character));
        strangerIds.set(character, symbol);
      }
      symbols[i] = symbol;
    }
    const joined = (left: number, right: number): number => {
      const head = bytesOf(left);
      const tail = bytesOf(right);
      const length = head.length + tail.length;
      if (length > pair.length) pair = new Uint8Array(length * 2);
      pair.set(head, 0);
      pair.set(tail, head.length);
      return table.find(pair, 0, length);
    };
    const joiner: Joiner = {
      priority: (left, right) => {
        const id = joined(left, right);
        return id < 0 ? Number.POSITIVE_INFINITY : -(scores[id] as number);
      },
      join: joined,
    };
    const left = mergeSymbols(symbols, symbols.length, joiner);
    for (let i = 0; i < left; i++) {
      const symbol = symbols[i] as number;
      if (symbol < count) ids.push(symbol);
      else for (const byte of bytesOf(symbol)) ids.push(byteTokens[byte] ?? unknown);
    }
  };

  const take = cachePieces(encodeWord);
  const cut = createWordCutter(tokens, counts);
  return {
    encode: (text, ids) => {
      if (text === "") return;
      const marked = ((spacePrefix ? " " : "") + text).replaceAll(" ", spaceMark);
      cut(marked, (word) => take(word, ids));
    },
  };
}
