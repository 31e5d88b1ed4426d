/** Tokens after which a model has nothing more to say. */
import type { SpecialToken } from "./special.ts";

const endTexts: ReadonlySet<string> = new Set([
  "<|eot_id|>",
  "<|im_end|>",
  "<|end|>",
  "<|return|>",
  "<|call|>",
  "<end_of_turn>",
  "<turn|>",
  "<|endoftext|>",
  "<|end_of_text|>",
  "<|eom_id|>",
  "<EOT>",
  "_<EOT>",
  "<eos>",
  "</s>",
  "<｜end▁of▁sentence｜>",
  "<|fim_pad|>",
  "<|repo_name|>",
  "<|file_sep|>",
]);

/** By token text, and by the ids the file names as eos, eot and eom. */
export function findEndTokens(
  special: Record<string, number>,
  tokens: readonly SpecialToken[],
  count: number,
): Set<number> {
  const ids = new Set<number>();
  for (const key of ["eos", "eot", "eom"]) {
    const id = special[key];
    if (id !== undefined && id >= 0 && id < count) ids.add(id);
  }
  const texts = new Set(tokens.map((token) => token.text));
  // In the harmony format <|end|> only ends a channel; the reply goes on in the next one.
  const harmony = texts.has("<|return|>") && texts.has("<|call|>");
  for (const token of tokens) {
    if (endTexts.has(token.text) && !(harmony && token.text === "<|end|>")) ids.add(token.id);
  }
  return ids;
}
