/** SentencePiece-style BPE (tokenizer.ggml.model "llama"): characters, merged by the score of what they make, bytes as a last resort. */
import type { Vocabulary } from "../engine.ts";
import { mostExtras, type TextEncoding } from "./byte-pair.ts";
import { createMerger } from "./merge.ts";
import { createPairing } from "./pairing.ts";
import { cachePieces } from "./piece-cache.ts";
import { createSymbolTable } from "./symbol-table.ts";
import { malformed, readByteTokens, spaceMark, specialIdOf, type TokenBytes, tokenType } from "./token-bytes.ts";
import { writeUtf8 } from "./utf8.ts";
import { createWordCutter } from "./word-cutter.ts";

export function createSentencePiece(vocabulary: Vocabulary, tokens: TokenBytes, spacePrefix: boolean): TextEncoding {
  const { count } = tokens;
  const scores = vocabulary.scores;
  if (scores.length !== count) {
    throw malformed(`The tokenizer has ${count} tokens but ${scores.length} scores`, {
      tokens: count,
      scores: scores.length,
    });
  }
  const counts = (id: number): boolean => {
    const type = tokens.types[id];
    return type !== tokenType.control && type !== tokenType.unknown && type !== tokenType.byte;
  };
  const mergeable = Uint8Array.from(tokens.types, (_, id) => (counts(id) ? 1 : 0));
  const table = createSymbolTable({ ...tokens, mergeable });
  const ranks = rankScores(scores);
  const rankOf = (left: number, right: number): number => {
    const id = table.findJoined(left, right);
    return id < 0 ? -1 : ranks.of(scores[id] as number);
  };
  const pairing = createPairing(count, ranks.count, rankOf, table.findJoined);
  const merge = createMerger(pairing);
  const byteTokens = readByteTokens(tokens);
  const unknown = specialIdOf(vocabulary, "unknown") ?? 0;
  let scratch = new Uint8Array(256);
  let symbols = new Int32Array(256);

  const encodeWord = (text: string, start: number, end: number, ids: number[]): void => {
    if ((end - start) * 3 > scratch.length) {
      scratch = new Uint8Array((end - start) * 4);
      symbols = new Int32Array((end - start) * 4);
    }
    const length = writeUtf8(text, scratch, 0, start, end);
    let made = 0;
    for (let at = 0; at < length; ) {
      const lead = scratch[at] as number;
      const behind = at + (lead < 0x80 ? 1 : lead < 0xe0 ? 2 : lead < 0xf0 ? 3 : 4);
      symbols[made++] = table.intern(scratch, at, behind);
      at = behind;
    }
    const left = merge(symbols, made);
    for (let i = 0; i < left; i++) {
      const symbol = symbols[i] as number;
      if (symbol < count) ids.push(symbol);
      else for (const byte of table.bytesOf(symbol)) ids.push(byteTokens[byte] ?? unknown);
    }
  };

  const take = cachePieces(encodeWord, count);
  const cut = createWordCutter(tokens, counts);
  return {
    encode: (text, ids) => {
      if (text === "") return;
      if (table.extras > mostExtras) {
        table.dropExtras();
        pairing.clear();
      }
      const marked = ((spacePrefix ? " " : "") + text).replaceAll(" ", spaceMark);
      cut(marked, 0, marked.length, (from, to) => take(marked, from, to, ids));
    },
  };
}

/** The best score has rank 0, equal ones have one rank; what is no number is the worst. */
function rankScores(scores: Float32Array): { count: number; of(score: number): number } {
  // Ascending, with NaN behind all others.
  const sorted = Float32Array.from(scores).sort();
  let count = 0;
  for (let i = 0; i < sorted.length; i++) {
    const score = sorted[i] as number;
    if (i === 0 || score !== sorted[count - 1]) sorted[count++] = score;
    if (Number.isNaN(score)) break;
  }
  const distinct = sorted.subarray(0, count);
  return {
    count,
    of: (score) => {
      let low = 0;
      let high = count - 1;
      while (low < high) {
        const middle = (low + high) >> 1;
        if ((distinct[middle] as number) < score) low = middle + 1;
        else high = middle;
      }
      return distinct[low] === score ? count - 1 - low : count - 1;
    },
  };
}
