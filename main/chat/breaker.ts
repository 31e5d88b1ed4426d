/** DRY's breakers are texts, the engine counts in tokens: every token, or run of tokens, that holds the text breaks. */
import type { Tokenizer } from "../../app/token/tokenizer.ts";
import { encodeUtf8 } from "../../app/token/utf8.ts";

/** Those of the sampler's maker (p-e-w) and of llama.cpp. */
export const usualBreakers: readonly string[] = ["\n", ":", '"', "*"];

const kept = new WeakMap<Tokenizer, Map<string, Int32Array>>();

/**
 * Sequences of token ids, each ended by -1: [id] for each token whose text contains a breaker; for each token that ends with the beginning of one,
 * that token and the tokens of the rest.
 */
export function breakerSequences(tokenizer: Tokenizer, breakers: readonly string[]): Int32Array {
  let known = kept.get(tokenizer);
  if (known === undefined) {
    known = new Map();
    kept.set(tokenizer, known);
  }
  const key = JSON.stringify(breakers);
  let found = known.get(key);
  if (found === undefined) {
    found = find(tokenizer, breakers);
    // One chat at a time tries others.
    if (known.size > 8) known.clear();
    known.set(key, found);
  }
  return found;
}

function find(tokenizer: Tokenizer, breakers: readonly string[]): Int32Array {
  const wanted = breakers.filter((text) => text !== "").map((text) => ({ bytes: encodeUtf8(text), text }));
  const rests = new Map<string, readonly number[] | null>();
  const restOf = (text: string): readonly number[] | null => {
    let ids = rests.get(text);
    if (ids === undefined) {
      ids = exactTokens(tokenizer, text);
      rests.set(text, ids);
    }
    return ids;
  };
  const sequences: number[] = [];
  for (let id = 0; id < tokenizer.count; id++) {
    if (tokenizer.isControl(id)) continue;
    const bytes = tokenizer.tokenBytes(id);
    if (wanted.some((breaker) => contains(bytes, breaker.bytes))) {
      sequences.push(id, -1);
      continue;
    }
    for (const breaker of wanted) {
      for (let length = 1; length < breaker.text.length; length++) {
        if (!endsWith(bytes, encodeUtf8(breaker.text.slice(0, length)))) continue;
        const rest = restOf(breaker.text.slice(length));
        if (rest !== null) sequences.push(id, ...rest, -1);
      }
    }
  }
  return Int32Array.from(sequences);
}

/** Tokens that print exactly this text, as it is written inside a line; null when the tokenizer puts something else there. */
function exactTokens(tokenizer: Tokenizer, text: string): readonly number[] | null {
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

function contains(bytes: Uint8Array, part: Uint8Array): boolean {
  const first = part[0] as number;
  for (let at = bytes.indexOf(first); at >= 0 && at + part.length <= bytes.length; at = bytes.indexOf(first, at + 1)) {
    let length = 1;
    while (length < part.length && bytes[at + length] === part[length]) length++;
    if (length === part.length) return true;
  }
  return false;
}

function endsWith(bytes: Uint8Array, part: Uint8Array): boolean {
  const from = bytes.length - part.length;
  return from >= 0 && part.every((byte, index) => bytes[from + index] === byte);
}
