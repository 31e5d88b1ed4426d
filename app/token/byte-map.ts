/**
 * The byte-to-character table of byte-level BPE: printable Latin-1 stands for itself, the other 68 bytes follow from U+0100 on.
 * Vocabularies are stored in these characters; here they are turned back to bytes once, and all further work is on bytes.
 */

const unmapped: Int16Array = buildUnmapped();

function buildUnmapped(): Int16Array {
  const table = new Int16Array(0x144).fill(-1);
  let next = 0x100;
  for (let byte = 0; byte < 256; byte++) {
    const itself = (byte >= 33 && byte <= 126) || (byte >= 161 && byte <= 172) || byte >= 174;
    table[itself ? byte : next++] = byte;
  }
  return table;
}

/** The character that stands for each byte. */
export const byteLetters: readonly string[] = buildLetters();

function buildLetters(): string[] {
  const letters: string[] = [];
  unmapped.forEach((byte, code) => {
    if (byte >= 0) letters[byte] = String.fromCharCode(code);
  });
  return letters;
}

/** The byte that a character of the table stands for; -1 for another code point. */
export function unmapByte(code: number): number {
  return code < unmapped.length ? (unmapped[code] as number) : -1;
}

/**
 * Turns mapped characters, given as UTF-8 `source[start..end]`, into the bytes they stand for, at `target[at]`.
 * Returns the index behind them, or -1 when a character is outside the table.
 */
export function unmapBytes(source: Uint8Array, start: number, end: number, target: Uint8Array, at: number): number {
  let to = at;
  for (let i = start; i < end; i++) {
    let code = source[i] as number;
    if (code >= 0x80) {
      // Every character of the table lies below U+0144, so two bytes are the most.
      if ((code & 0xe0) !== 0xc0 || i + 1 >= end) return -1;
      code = ((code & 0x1f) << 6) | ((source[++i] as number) & 0x3f);
    }
    const byte = unmapByte(code);
    if (byte < 0) return -1;
    target[to++] = byte;
  }
  return to;
}
