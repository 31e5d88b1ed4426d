/** Tokens as a user names and reads them. */
import type { TokenChoice } from "../../app/contract/session.ts";
import type { Tokenizer } from "../../app/token/tokenizer.ts";
import { decodeUtf8, encodeUtf8, replacement } from "../../app/token/utf8.ts";

/** Tokens that print exactly this text, as it is written inside a line; null when the tokenizer puts something else there. */
export function exactTokens(tokenizer: Tokenizer, text: string): readonly number[] | null {
  const wanted = encodeUtf8(text);
  // What some vocabularies put before a text (a space) stays with a first character that is cut off again.
  for (const before of ["", "a", "\n"]) {
    const ids = tokenizer.encode([{ text: before + text, special: false }]);
    for (let from = 0; from < ids.length; from++) {
      const tail = ids.slice(from);
      const length = tail.reduce((sum, id) => sum + tokenizer.tokenBytes(id).length, 0);
      if (length < wanted.length) break;
      if (length === wanted.length && same(tokenizer, tail, wanted)) return tail;
    }
  }
  return null;
}

function same(tokenizer: Tokenizer, ids: readonly number[], wanted: Uint8Array): boolean {
  let at = 0;
  for (const id of ids) {
    for (const byte of tokenizer.tokenBytes(id)) {
      if (byte !== wanted[at++]) return false;
    }
  }
  return true;
}

/** What a text stands for: the control token of exactly that name, else the tokens that print it. */
export function tokensOfText(tokenizer: Tokenizer, text: string): readonly number[] {
  const special = tokenizer.specialId(text);
  if (special !== undefined) return [special];
  return exactTokens(tokenizer, text) ?? tokenizer.encode([{ text, special: false }]);
}

/** Each once. A number beyond the vocabulary names a token of another model, which never comes with this one: it stands for none. */
export function tokensOf(tokenizer: Tokenizer, choice: TokenChoice): readonly number[] {
  if (typeof choice === "number") return choice < tokenizer.count ? [choice] : [];
  return [...new Set(tokensOfText(tokenizer, choice))];
}

/** What a token prints; bytes that are no text by themselves in the manner of "<0xF0>". */
export function readableToken(tokenizer: Tokenizer, id: number): string {
  if (tokenizer.isControl(id)) return tokenizer.tokenText(id);
  const bytes = tokenizer.tokenBytes(id);
  const text = decodeUtf8(bytes);
  if (!text.includes(replacement)) return text;
  return Array.from(bytes, (byte) => `<0x${byte.toString(16).toUpperCase().padStart(2, "0")}>`).join("");
}
