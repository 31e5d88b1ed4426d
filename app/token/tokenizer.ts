/** A model's tokenizer, built from what its file says. */
import type { Vocabulary } from "../engine.ts";
import { HalogenError } from "../error.ts";
import { createBytePair, type TextEncoding } from "./byte-pair.ts";
import { createDetokenizer, type Detokenizer } from "./detokenizer.ts";
import { findEndTokens } from "./end-of-generation.ts";
import { findPreTokenizer, linePreTokenizer, preTokenizerNames } from "./pre-tokenizer.ts";
import { createSentencePiece } from "./sentence-piece.ts";
import { createSpecialMatcher, type Span, type SpecialMatcher } from "./special.ts";
import { readByteTokens, readTokenBytes, spaceMark, specialIdOf, type TokenBytes } from "./token-bytes.ts";
import { encodeUtf8, wellFormed } from "./utf8.ts";
import { createWordPiece } from "./word-piece.ts";

export interface Tokenizer {
  count: number;
  bos: number | null;
  eos: number | null;
  /** Whether prompts of this model start with `bos`. */
  addBos: boolean;
  /** Bytes of text that one token can stand for at most; a text of n bytes has at least n / longest tokens. */
  longest: number;
  /** Generation ends at these. */
  endTokens: ReadonlySet<number>;
  /** The model's makers never let it generate these. */
  suppressed: readonly number[];
  special: SpecialMatcher;
  /** What the user should know about this tokenizer, in words; mostly empty. */
  notices: readonly string[];
  /** Ids of the spans' joined text; nothing is added. Lone surrogates are read as U+FFFD. */
  encode(spans: readonly Span[]): number[];
  /** As `encode`, with `bos` in front where the model wants it and the template has not written it. */
  encodePrompt(spans: readonly Span[]): number[];
  /** The token's own text as the file has it, e.g. "<|im_end|>". */
  tokenText(id: number): string;
  /** The id of a control, unknown or user-defined token by its exact text. */
  specialId(text: string): number | undefined;
  /** The bytes a token prints; of a control token too. */
  tokenBytes(id: number): Uint8Array;
  isControl(id: number): boolean;
  /**
   * A fresh stream. `shown`: control tokens that are printed all the same, e.g. thinking tags. `continues`: text stands before it, so that its
   * first space is one between words.
   */
  detokenizer(shown?: ReadonlySet<number>, continues?: boolean): Detokenizer;
  decode(ids: Iterable<number>, shown?: ReadonlySet<number>): string;
}

/** Throws tokenizer.unsupported or tokenizer.malformed. */
export function createTokenizer(vocabulary: Vocabulary): Tokenizer {
  const notices: string[] = [];
  const built = build(vocabulary, notices);
  const { tokens, encoding } = built;
  const special = createSpecialMatcher(tokens);
  const bos = specialIdOf(vocabulary, "bos");
  const addBos = (vocabulary.flags.add_bos_token ?? built.addBos) && bos !== null;
  const byText = new Map(special.tokens.map((token) => [token.text, token.id] as const));

  const encode = (spans: readonly Span[]): number[] => {
    const ids: number[] = [];
    special.partition(
      spans.map((span) => ({ text: wellFormed(span.text), special: span.special })),
      (text) => encoding.encode(text, ids),
      (id) => ids.push(id),
    );
    return ids;
  };
  const detokenizer = (shown: ReadonlySet<number> = new Set(), continues = false): Detokenizer =>
    createDetokenizer(tokens, { pieces: built.pieces, dropFirstSpace: built.spacePrefix && !continues, shown });

  return {
    count: tokens.count,
    bos,
    eos: specialIdOf(vocabulary, "eos"),
    addBos,
    longest: longestToken(tokens),
    endTokens: findEndTokens(vocabulary.special, special.tokens, tokens.count),
    suppressed: [...(vocabulary.suppressed ?? [])].filter((id) => id >= 0 && id < tokens.count),
    special,
    notices,
    encode,
    encodePrompt: (spans) => {
      const ids = encode(spans);
      if (addBos && bos !== null && ids[0] !== bos) ids.unshift(bos);
      return ids;
    },
    tokenText: tokens.text,
    specialId: (text) => byText.get(text),
    tokenBytes: (id) => built.pieces(id),
    isControl: (id) => tokens.types[id] === 3,
    detokenizer,
    decode: (ids, shown) => {
      const stream = detokenizer(shown);
      let text = "";
      for (const id of ids) text += stream.push(id);
      return text + stream.flush();
    },
  };
}

interface Built {
  tokens: TokenBytes;
  encoding: TextEncoding;
  /** The bytes a token prints. */
  pieces: (id: number) => Uint8Array;
  addBos: boolean;
  spacePrefix: boolean;
}

function build(vocabulary: Vocabulary, notices: string[]): Built {
  if (vocabulary.model === "gpt2") {
    const name = vocabulary.pre === "" ? "default" : vocabulary.pre;
    if (vocabulary.pre === "") {
      notices.push(
        "This model file does not name its pre-tokenizer; a general one is used, and answers may be worse for it.",
      );
    }
    const pre = findPreTokenizer(name);
    if (pre === undefined) {
      throw new HalogenError(
        "tokenizer.unsupported",
        `The file is fine, but this version of Halogen has no pre-tokenizer "${name}"`,
        {
          hint: `Choose another model, or update Halogen. Known: ${preTokenizerNames.join(", ")}.`,
          detail: { model: vocabulary.model, pre: name },
        },
      );
    }
    const tokens = readTokenBytes(vocabulary, true);
    return {
      tokens,
      encoding: createBytePair(vocabulary, tokens, pre, "bytes"),
      pieces: tokens.bytes,
      addBos: pre.addBos,
      spacePrefix: false,
    };
  }
  if (vocabulary.model === "gemma4") {
    const tokens = readTokenBytes(vocabulary, false);
    return {
      tokens,
      encoding: createBytePair(vocabulary, tokens, linePreTokenizer(), "characters"),
      pieces: sentencePieceBytes(tokens),
      addBos: true,
      spacePrefix: false,
    };
  }
  if (vocabulary.model === "llama") {
    const tokens = readTokenBytes(vocabulary, false);
    const spacePrefix = vocabulary.flags.add_space_prefix ?? true;
    return {
      tokens,
      encoding: createSentencePiece(vocabulary, tokens, spacePrefix),
      pieces: sentencePieceBytes(tokens),
      addBos: true,
      spacePrefix,
    };
  }
  if (vocabulary.model === "bert") {
    const tokens = readTokenBytes(vocabulary, false);
    return {
      tokens,
      encoding: createWordPiece(vocabulary, tokens),
      pieces: sentencePieceBytes(tokens),
      addBos: false,
      spacePrefix: true,
    };
  }
  throw new HalogenError(
    "tokenizer.unsupported",
    `The file is fine, but this version of Halogen has no tokenizer "${vocabulary.model}"`,
    {
      hint: "Choose another model, or update Halogen. Known: gpt2 (byte-level BPE), llama (SentencePiece), gemma4, bert (WordPiece).",
      detail: { model: vocabulary.model },
    },
  );
}

/** The space mark becomes a space, and byte tokens the byte they name. */
function sentencePieceBytes(tokens: TokenBytes): (id: number) => Uint8Array {
  const singles = new Map<number, Uint8Array>();
  readByteTokens(tokens).forEach((id, byte) => {
    if (id !== undefined) singles.set(id, Uint8Array.of(byte));
  });
  return (id) => {
    const single = singles.get(id);
    if (single !== undefined) return single;
    const bytes = tokens.bytes(id);
    // U+2581 is E2 96 81; most tokens without it are printed as they are.
    return bytes.includes(0x96) ? encodeUtf8(tokens.text(id).replaceAll(spaceMark, " ")) : bytes;
  };
}

function longestToken({ count, offsets }: TokenBytes): number {
  let longest = 1;
  for (let id = 0; id < count; id++) longest = Math.max(longest, (offsets[id + 1] ?? 0) - (offsets[id] ?? 0));
  return longest;
}
