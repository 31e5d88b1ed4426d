/** Tokens after which a model has nothing more to say. */
import { endTexts } from "./end-text.ts";
import type { SpecialToken } from "./special.ts";
import { tokenType } from "./token-bytes.ts";

/** Files with HTML tags among their tokens (Gemma) have this one too, and there it strikes text out. */
const endOfSequence = "</s>";

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
  for (const token of tokens) {
    if (endTexts.has(token.text)) ids.add(token.id);
    if (token.text === endOfSequence && token.type === tokenType.control) ids.add(token.id);
  }
  // In the harmony format <|end|> only ends a channel, whatever a key says; the reply goes on in the next one.
  const named = (text: string): SpecialToken | undefined => tokens.find((token) => token.text === text);
  const end = named("<|end|>");
  if (end !== undefined && named("<|return|>") !== undefined && named("<|call|>") !== undefined) ids.delete(end.id);
  return ids;
}
