/** DRY's breakers are texts, the engine counts in tokens: every token, or run of tokens, that holds the text breaks. */
import type { Tokenizer } from "../../app/token/tokenizer.ts";
import { encodeUtf8 } from "../../app/token/utf8.ts";
import { exactTokens } from "./token-text.ts";

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
