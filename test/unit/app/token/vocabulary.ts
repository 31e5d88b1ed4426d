/** Small vocabularies for the tests of this folder. */
import type { Vocabulary } from "../../../../app/engine.ts";
import { packedStrings } from "../../../fixtures/gguf-vocabulary.ts";
import { scriptedVocabulary } from "../../../fixtures/scripted-engine-vocabulary.ts";

/** 256 bytes, ChatML markup (256 endoftext, 257 im_start, 258 im_end), user-defined tags, and these pieces as merged tokens. */
export function byteVocabulary(pieces: readonly string[] = [], change: Partial<Vocabulary> = {}): Vocabulary {
  return { ...scriptedVocabulary(pieces).vocabulary, ...change };
}

/** A SentencePiece vocabulary: unknown, bos, eos, 256 byte tokens, then these with their scores. */
export function pieceVocabulary(pieces: readonly [string, number][], change: Partial<Vocabulary> = {}): Vocabulary {
  const bytes = Array.from({ length: 256 }, (_, byte) => `<0x${byte.toString(16).toUpperCase().padStart(2, "0")}>`);
  const texts = ["<unk>", "<s>", "</s>", ...bytes, ...pieces.map(([text]) => text)];
  return {
    model: "llama",
    pre: "",
    tokens: packedStrings(texts),
    types: Int32Array.from(texts, (_, id) => (id === 0 ? 2 : id < 3 ? 3 : id < 259 ? 6 : 1)),
    scores: Float32Array.from(texts, (_, id) => pieces[id - 259]?.[1] ?? 0),
    merges: packedStrings([]),
    special: { bos: 1, eos: 2, unknown: 0 },
    flags: {},
    ...change,
  };
}

export const firstPiece = 259;
