/** UTF-8 by hand: this layer has neither TextEncoder nor Buffer, and a stream of tokens needs its own decoder anyway. */

export const replacement = "\uFFFD";

/** Replaces lone surrogates, which have no UTF-8 form, by U+FFFD. */
export function wellFormed(text: string): string {
  return /\p{Surrogate}/u.test(text) ? text.replace(/\p{Surrogate}/gu, replacement) : text;
}

/** Bytes that `text` needs; lone surrogates count as U+FFFD. */
export function utf8Length(text: string): number {
  let length = 0;
  for (let i = 0; i < text.length; i++) {
    const unit = text.charCodeAt(i);
    if (unit < 0x80) length += 1;
    else if (unit < 0x800) length += 2;
    else if (isHigh(unit) && isLow(text.charCodeAt(i + 1))) {
      length += 4;
      i++;
    } else length += 3;
  }
  return length;
}

/** Writes `text[from..end]` at `target[at]` and returns the index behind it. `target` must have room: 3 bytes a UTF-16 unit are always enough. */
export function writeUtf8(text: string, target: Uint8Array, at: number, from = 0, end = text.length): number {
  let to = at;
  for (let i = from; i < end; i++) {
    let code = text.charCodeAt(i);
    if (code < 0x80) {
      target[to++] = code;
      continue;
    }
    if (code < 0x800) {
      target[to++] = 0xc0 | (code >> 6);
      target[to++] = 0x80 | (code & 0x3f);
      continue;
    }
    if (isHigh(code) && i + 1 < end && isLow(text.charCodeAt(i + 1))) {
      code = 0x10000 + ((code - 0xd800) << 10) + (text.charCodeAt(++i) - 0xdc00);
      target[to++] = 0xf0 | (code >> 18);
      target[to++] = 0x80 | ((code >> 12) & 0x3f);
    } else {
      if (code >= 0xd800 && code <= 0xdfff) code = 0xfffd;
      target[to++] = 0xe0 | (code >> 12);
    }
    target[to++] = 0x80 | ((code >> 6) & 0x3f);
    target[to++] = 0x80 | (code & 0x3f);
  }
  return to;
}

export function encodeUtf8(text: string): Uint8Array {
  const bytes = new Uint8Array(utf8Length(text));
  writeUtf8(text, bytes, 0);
  return bytes;
}

/** The whole of `bytes` as text; what is not UTF-8 becomes U+FFFD. */
export function decodeUtf8(bytes: Uint8Array, start = 0, end = bytes.length): string {
  const decoder = createUtf8Decoder();
  return decoder.push(start === 0 && end === bytes.length ? bytes : bytes.subarray(start, end)) + decoder.flush();
}

export interface Utf8Decoder {
  /** Everything that is certain so far; an unfinished character is held back. */
  push(bytes: Uint8Array): string;
  /** What is still held back can no longer be completed: U+FFFD for it, or nothing. */
  flush(): string;
}

/** A streaming decoder with the WHATWG rule: one U+FFFD for each longest prefix of a valid sequence, and it never stalls on bad bytes. */
export function createUtf8Decoder(): Utf8Decoder {
  let needed = 0;
  let code = 0;
  let lower = 0x80;
  let upper = 0xbf;

  const push = (bytes: Uint8Array): string => {
    let units: number[] = [];
    let text = "";
    for (let i = 0; i < bytes.length; i++) {
      const byte = bytes[i] as number;
      if (needed > 0) {
        if (byte >= lower && byte <= upper) {
          code = (code << 6) | (byte & 0x3f);
          lower = 0x80;
          upper = 0xbf;
          if (--needed > 0) continue;
          if (code < 0x10000) units.push(code);
          else units.push(0xd800 + ((code - 0x10000) >> 10), 0xdc00 + ((code - 0x10000) & 0x3ff));
        } else {
          // The sequence is broken here: mark it, and read this byte anew as a first byte.
          needed = 0;
          lower = 0x80;
          upper = 0xbf;
          units.push(0xfffd);
          i--;
        }
      } else if (byte < 0x80) units.push(byte);
      else if (byte >= 0xc2 && byte <= 0xdf) {
        needed = 1;
        code = byte & 0x1f;
      } else if (byte >= 0xe0 && byte <= 0xef) {
        needed = 2;
        code = byte & 0x0f;
        // Overlong forms and surrogates are excluded by the range of the second byte.
        if (byte === 0xe0) lower = 0xa0;
        if (byte === 0xed) upper = 0x9f;
      } else if (byte >= 0xf0 && byte <= 0xf4) {
        needed = 3;
        code = byte & 0x07;
        if (byte === 0xf0) lower = 0x90;
        if (byte === 0xf4) upper = 0x8f;
      } else units.push(0xfffd);
      if (units.length >= 4096) {
        text += String.fromCharCode(...units);
        units = [];
      }
    }
    return units.length === 0 ? text : text + String.fromCharCode(...units);
  };

  const flush = (): string => {
    const held = needed > 0;
    needed = 0;
    lower = 0x80;
    upper = 0xbf;
    return held ? replacement : "";
  };

  return { push, flush };
}

function isHigh(unit: number): boolean {
  return unit >= 0xd800 && unit <= 0xdbff;
}

function isLow(unit: number): boolean {
  return unit >= 0xdc00 && unit <= 0xdfff;
}
