/** The bytes each token stands for, once for all: what a reply prints, and what the merges work on. */
import type { Vocabulary } from "../engine.ts";
import { HalogenError } from "../error.ts";
import { unmapBytes } from "./byte-map.ts";
import { endFirsts, endTexts } from "./end-text.ts";
import { decodeUtf8 } from "./utf8.ts";

export const tokenType = { normal: 1, unknown: 2, control: 3, userDefined: 4, unused: 5, byte: 6 } as const;

/** Stands for a space in vocabularies of characters (U+2581). */
export const spaceMark = "▁";

export interface TokenBytes {
  count: number;
  /** Token i is store[offsets[i] .. offsets[i + 1]]. */
  store: Uint8Array;
  offsets: Uint32Array;
  types: Int32Array;
  /** 1 where merges can make the token; others are reached only as special tokens. */
  mergeable: Uint8Array;
  /** Literal text of a token as the file has it. */
  text(id: number): string;
  bytes(id: number): Uint8Array;
}

/** `mapped`: normal tokens are stored in the characters of byte-level BPE. Throws tokenizer.malformed. */
export function readTokenBytes(vocabulary: Vocabulary, mapped: boolean): TokenBytes {
  const { bytes: source, offsets: from } = vocabulary.tokens;
  const count = from.length - 1;
  if (count < 1) throw malformed("The tokenizer of this model has no tokens", {});
  checkOffsets("tokens", source, from);
  if (vocabulary.types.length !== 0 && vocabulary.types.length !== count) {
    throw malformed(`The tokenizer has ${count} tokens but ${vocabulary.types.length} token types`, {
      tokens: count,
      types: vocabulary.types.length,
    });
  }
  const types = withEndings(vocabulary.types, count, source, from);
  const mergeable = new Uint8Array(count);
  const read = mapped ? unmapTokens(source, from, types, mergeable) : { store: source, offsets: from };
  if (!mapped) {
    for (let id = 0; id < count; id++) {
      if (types[id] === tokenType.normal || types[id] === tokenType.unused) mergeable[id] = 1;
    }
  }
  const { store, offsets } = read;
  return {
    count,
    store,
    offsets,
    types,
    mergeable,
    text: (id) => decodeUtf8(source, from[id] ?? 0, from[id + 1] ?? 0),
    bytes: (id) => store.subarray(offsets[id] ?? 0, offsets[id + 1] ?? 0),
  };
}

/** Some files call all their tokens normal, also those that end a reply: a prompt must not spell them out, nor a reply print them. */
function withEndings(given: Int32Array, count: number, source: Uint8Array, from: Uint32Array): Int32Array {
  const types = given.length === 0 ? new Int32Array(count).fill(tokenType.normal) : given.slice();
  const longest = 40;
  const firsts = new Set(Array.from(endFirsts, (character) => character.charCodeAt(0)));
  for (let id = 0; id < count; id++) {
    const start = from[id] as number;
    const end = from[id + 1] as number;
    if (types[id] !== tokenType.normal || end - start > longest) continue;
    if (!firsts.has(source[start] as number)) continue;
    if (endTexts.has(decodeUtf8(source, start, end))) types[id] = tokenType.control;
  }
  return types;
}

/** Sets `mergeable` where a token's characters all stand for bytes. */
function unmapTokens(
  source: Uint8Array,
  from: Uint32Array,
  types: Int32Array,
  mergeable: Uint8Array,
): { store: Uint8Array; offsets: Uint32Array } {
  const store = new Uint8Array(source.length);
  const offsets = new Uint32Array(from.length);
  let to = 0;
  for (let id = 0; id < types.length; id++) {
    offsets[id] = to;
    const start = from[id] as number;
    const end = from[id + 1] as number;
    const type = types[id] as number;
    const literal = type === tokenType.control || type === tokenType.userDefined || type === tokenType.unknown;
    const behind = literal ? -1 : unmapBytes(source, start, end, store, to);
    if (behind >= 0) {
      mergeable[id] = 1;
      to = behind;
    } else {
      // Also for a normal token with characters that stand for no byte (command-r has some).
      for (let at = start; at < end; at++) store[to++] = source[at] as number;
    }
  }
  offsets[types.length] = to;
  return { store, offsets };
}

export function checkOffsets(what: string, bytes: Uint8Array, offsets: Uint32Array): void {
  let last = 0;
  for (let i = 0; i < offsets.length; i++) {
    const offset = offsets[i] as number;
    if (offset < last || offset > bytes.length) {
      throw malformed(`The tokenizer's ${what} are damaged at entry ${i}`, { entry: i, offset, bytes: bytes.length });
    }
    last = offset;
  }
}

export function malformed(message: string, detail: Record<string, number | string>): HalogenError {
  return new HalogenError("tokenizer.malformed", message, {
    hint: "The model file may be damaged; download it again.",
    detail,
  });
}

/** Ids of `<0x00>` … `<0xFF>`, where the vocabulary has them. */
export function readByteTokens(tokens: TokenBytes): (number | undefined)[] {
  const ids: (number | undefined)[] = new Array(256).fill(undefined);
  for (let id = 0; id < tokens.count; id++) {
    if (tokens.types[id] !== tokenType.byte) continue;
    const match = /^<0x([0-9A-Fa-f]{2})>$/.exec(tokens.text(id));
    if (match !== null) ids[Number.parseInt(match[1] as string, 16)] = id;
  }
  return ids;
}

/** The id that the file names for this role; null when it names none, or one outside the vocabulary (some files have 2^32 - 1). */
export function specialIdOf(vocabulary: Vocabulary, key: string): number | null {
  const id = vocabulary.special[key];
  return id !== undefined && id >= 0 && id < vocabulary.tokens.offsets.length - 1 ? id : null;
}
