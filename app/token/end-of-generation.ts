/** Tokens after which a model has nothing more to say. */
import { endTexts } from "./end-text.ts";
import type { SpecialToken } from "./special.ts";
import { tokenType } from "./token-bytes.ts";

/** Files with HTML tags among their tokens (Gemma) have this one too, and there it strikes text out. */
const endOfSequence = "</s>";

/** By token text, and by the ids that the file names as ends, also of what fills in code between two texts. */
export function findEndTokens(
  special: Record<string, number>,
  tokens: readonly SpecialToken[],
  count: number,
): Set<number> {
  const ids = new Set<number>();
  for (const key of ["eos", "eot", "eom", "fim_pad", "fim_rep", "fim_sep"]) {
    const id = special[key];
    if (id !== undefined && id >= 0 && id < count) ids.add(id);
  }
  for (const token of tokens) {
    if (endTexts.has(token.text)) ids.add(token.id);
    if (token.text === endOfSequence && token.type === tokenType.control) ids.add(token.id);
  }
  // Where other tokens end a reply of parts (harmony, Solar Open), <|end|> only ends a part, whatever a key says.
  const named = (text: string): SpecialToken | undefined => tokens.find((token) => token.text === text);
  const calls = named("<|call|>") ?? named("<|calls|>");
  const whole = named("<|return|>") ?? named("<|flush|>");
  const end = named("<|end|>");
  if (end !== undefined && calls !== undefined && whole !== undefined) ids.delete(end.id);
  return ids;
}
