/** Turns a stream of tokens into text: an unfinished character is held back, bytes that are none become U+FFFD. */
import { type TokenBytes, tokenType } from "./token-bytes.ts";
import { createUtf8Decoder } from "./utf8.ts";

export interface Detokenizer {
  /** The text that is certain after this token; empty for a control token and inside a character. */
  push(id: number): string;
  /** The end: what was held back, as U+FFFD. */
  flush(): string;
}

export interface DetokenizerOptions {
  /** The bytes a token prints. */
  pieces: (id: number) => Uint8Array;
  /** SentencePiece puts a space before the first word; it is taken off again. */
  dropFirstSpace: boolean;
  /** Control tokens whose text is printed all the same. */
  shown: ReadonlySet<number>;
}

export function createDetokenizer(tokens: TokenBytes, options: DetokenizerOptions): Detokenizer {
  const decoder = createUtf8Decoder();
  let atStart = options.dropFirstSpace;
  return {
    push: (id) => {
      if (id < 0 || id >= tokens.count) return decoder.flush();
      const type = tokens.types[id];
      const silent = type === tokenType.control || type === tokenType.unknown || type === tokenType.unused;
      if (silent && !options.shown.has(id)) return "";
      let bytes = options.pieces(id);
      if (atStart && bytes.length > 0) {
        if (bytes[0] === 0x20) bytes = bytes.subarray(1);
        atStart = false;
      }
      return decoder.push(bytes);
    },
    flush: () => decoder.flush(),
  };
}
