/**
 * WordPiece as BERT has it (tokenizer.ggml.model "bert"): words and single signs, each cut into the longest tokens from the left, or unknown as a
 * whole. GGUF stores a word's beginning with a space mark, and what goes on inside a word without one.
 */
import type { Vocabulary } from "../engine.ts";
import type { TextEncoding } from "./byte-pair.ts";
import { toNormalForm } from "./normal-form.ts";
import { cachePieces } from "./piece-cache.ts";
import { createSymbolTable } from "./symbol-table.ts";
import { spaceMark, specialIdOf, type TokenBytes } from "./token-bytes.ts";
import { encodeUtf8, utf8Length } from "./utf8.ts";

/** BERT's own limit, in characters; a longer word is unknown. */
const longestWord = 100;

const ascii = "!-\\/:-@\\[-`{-~";
/** A sign, or what lies between signs and white space. */
const word = new RegExp(`[${ascii}\\p{P}]|[^${ascii}\\p{P}\\p{White_Space}]+`, "gu");
/** Everything of the categories "other" but the white space among them, and U+FFFD. */
const dropped = /(?![\t\n\r])[\p{C}\ufffd]/gu;
/** The blocks that BERT takes as Chinese: each character of them is a word. */
const han =
  /[\u4e00-\u9fff\u3400-\u4dbf\u{20000}-\u{2a6df}\u{2a700}-\u{2b73f}\u{2b740}-\u{2b81f}\u{2b920}-\u{2ceaf}\uf900-\ufaff\u{2f800}-\u{2fa1f}]/gu;

export function createWordPiece(vocabulary: Vocabulary, tokens: TokenBytes): TextEncoding {
  const table = createSymbolTable(tokens);
  const unknown = specialIdOf(vocabulary, "unknown");
  const idOf = (text: string): number => table.find(encodeUtf8(text), 0, utf8Length(text));
  // The file does not say; a vocabulary that has no word "A" was made from lower-cased text.
  const cased = idOf(`${spaceMark}A`) >= 0;
  let longest = 1;
  for (let id = 0; id < tokens.count; id++) {
    if (tokens.mergeable[id] === 1) longest = Math.max(longest, tokens.bytes(id).length);
  }

  const encodeWord = (text: string, start: number, end: number, ids: number[]): void => {
    const characters = Array.from(text.slice(start, end));
    const from = ids.length;
    const bytes = encodeUtf8(`${spaceMark}${characters.join("")}`);
    let at = 0;
    while (characters.length <= longestWord && at < bytes.length) {
      let behind = Math.min(bytes.length, at + longest);
      let id = -1;
      for (; behind > at; behind--) {
        // Tokens are whole characters, so an end inside one finds nothing.
        id = table.find(bytes, at, behind);
        if (id >= 0) break;
      }
      if (id < 0) break;
      ids.push(id);
      at = behind;
    }
    if (at === bytes.length) return;
    ids.length = from;
    if (unknown !== null) ids.push(unknown);
  };

  const take = cachePieces(encodeWord, tokens.count);
  return {
    encode: (text, ids) => {
      const clean = normalise(text, cased);
      word.lastIndex = 0;
      for (let found = word.exec(clean); found !== null; found = word.exec(clean)) {
        take(clean, found.index, found.index + found[0].length, ids);
      }
    },
  };
}

function normalise(text: string, cased: boolean): string {
  const clean = text.replace(dropped, "").replace(han, " $& ");
  if (cased) return clean;
  // Letter by letter: as a whole, a final sigma would get its own form.
  return toNormalForm(clean, "NFD")
    .replace(/\p{Mn}/gu, "")
    .replace(/\P{Ll}/gu, (letter) => letter.toLowerCase());
}
