/** Any text through tokenizers of every kind, and any vocabulary through the reader of vocabularies. Started by `npm run fuzz -- tokenizer`. */
import type { Vocabulary } from "../../app/engine.ts";
import { preTokenizerNames } from "../../app/token/pre-tokenizer.ts";
import { createTokenizer, type Tokenizer } from "../../app/token/tokenizer.ts";
import { wellFormed } from "../../app/token/utf8.ts";
import { packedStrings } from "../fixtures/gguf-vocabulary.ts";
import { byteVocabulary, pieceVocabulary } from "../unit/app/token/vocabulary.ts";
import { demand, Input, refusing } from "./input.ts";

const pieces = [
  " ",
  "th",
  "he",
  "the",
  " t",
  " the",
  "in",
  "ing",
  "er",
  "é",
  "日本",
  "本",
  "\n\n",
  "  ",
  "    ",
  "12",
  "123",
  "'s",
  "\u{1F600}",
];
const scored = pieces.map((text, at): [string, number] => [text.replaceAll(" ", "\u2581"), -at]);
const longest = 2000;

const tokenizers = new Map<string, Tokenizer>();
const kinds: [string, ...string[]] = ["llama", ...preTokenizerNames];

function known(kind: string): Tokenizer {
  const found =
    tokenizers.get(kind) ??
    createTokenizer(kind === "llama" ? pieceVocabulary(scored) : byteVocabulary(pieces, { pre: kind }));
  tokenizers.set(kind, found);
  return found;
}

/** Every text comes back as it was, in ids of the vocabulary, and what is no markup makes no control token. */
function encode(input: Input): void {
  const kind = input.pick(kinds);
  const tokenizer = known(kind);
  const special = input.below(2) === 1;
  const text = input.text(longest);
  const ids = tokenizer.encode([{ text, special }]);
  for (const id of ids) demand(Number.isInteger(id) && id >= 0 && id < tokenizer.count, `token ${id}`);
  if (special) return;
  for (const id of ids) demand(!tokenizer.isControl(id), `text made the control token ${id}`);
  const again = tokenizer.decode(ids);
  // Some makers compose characters first (NFC). SentencePiece writes spaces as marks, and one before the first word.
  const wanted = wellFormed(text);
  const same = [wanted, wanted.normalize("NFC")].some((text) =>
    kind === "llama" ? again.replaceAll("\u2581", " ") === text.replaceAll("\u2581", " ") : again === text,
  );
  demand(same, `${kind}: ${JSON.stringify(text)} came back as ${JSON.stringify(again)}`);
  const stream = tokenizer.detokenizer();
  demand(ids.map((id) => stream.push(id)).join("") + stream.flush() === again, "streamed text is another");
  demand(ids.length * tokenizer.longest >= Buffer.byteLength(wanted), "a token stands for more bytes than the longest");
}

/** Tokens, types, scores and merges of any kind: refused in words, or a tokenizer that keeps its promises. */
function vocabulary(input: Input): void {
  const count = input.below(24);
  const texts = Array.from({ length: count }, () => input.text(input.below(9)));
  const made: Vocabulary = {
    model: input.pick(["gpt2", "llama", "gemma4", "none", "bert"]),
    pre: input.pick(["default", "llama-bpe", "qwen2", "", "unheard-of"]),
    tokens: packedStrings(texts),
    types: Int32Array.from({ length: input.below(2) === 0 ? count : input.below(30) }, () => input.below(9)),
    scores: Float32Array.from({ length: input.below(2) === 0 ? count : input.below(30) }, () =>
      input.pick([0, -1, 1, Number.NaN, Number.POSITIVE_INFINITY, -1e30]),
    ),
    merges: packedStrings(
      Array.from({ length: input.below(8) }, () => `${input.text(input.below(4))} ${input.text(input.below(4))}`),
    ),
    special: Object.fromEntries(
      ["bos", "eos", "unknown"].filter(() => input.below(2) === 1).map((key) => [key, input.byte() - 4]),
    ),
    flags: Object.fromEntries(
      ["add_bos_token", "add_space_prefix", "remove_extra_whitespaces"].map((key) => [key, input.below(2) === 1]),
    ),
  };
  const tokenizer = refusing(() => createTokenizer(made));
  if (tokenizer === null) return;
  const ids = refusing(() =>
    tokenizer.encodePrompt([
      { text: input.text(64), special: true },
      { text: input.text(64), special: false },
    ]),
  );
  if (ids === null) return;
  for (const id of ids)
    demand(Number.isInteger(id) && id >= 0 && id < tokenizer.count, `token ${id} of ${tokenizer.count}`);
  tokenizer.decode(ids);
}

export function fuzz(data: Buffer): void {
  const input = new Input(data);
  if (input.below(4) === 0) vocabulary(input);
  else encode(input);
}
