/** Tokens as a user names them: by a text, or by their number. */
import type { TokenChoice } from "../../app/contract/session.ts";
import { formatCount } from "../../app/number.ts";

/** What the sampling of a chat says of one choice; without a bias it never comes. */
export interface TokenEntry {
  token: TokenChoice;
  bias: number | null;
}

export type NamedBy = "text" | "number";

const longestText = 100;
export const biasRange = { min: -1000, max: 1000 } as const;

/** A choice, or what is wrong with it in words. `count`: tokens of the model, where it is known. Nothing typed is neither. */
export function parseTokenChoice(
  by: NamedBy,
  typed: string,
  count: number | null,
): { choice: TokenChoice | null; problem: string | null } {
  const none = (problem: string | null) => ({ choice: null, problem });
  if (typed === "") return none(null);
  if (by === "text") {
    return typed.length > longestText ? none(`At most ${longestText} characters.`) : { choice: typed, problem: null };
  }
  const digits = typed.trim();
  const id = /^\d+$/.test(digits) ? Number(digits) : Number.NaN;
  const most = count === null ? 2_147_483_647 : count - 1;
  if (Number.isNaN(id) || id > most) {
    const of = count === null ? "A token's number is" : "This model's tokens are";
    return none(`${of} from 0 to ${formatCount(most)}.`);
  }
  return { choice: id, problem: null };
}

/** Undefined when it is no number in range. */
export function parseBias(typed: string): number | undefined {
  const trimmed = typed.trim().replace(",", ".").replace("−", "-");
  const value = Number(trimmed);
  return trimmed === "" || !Number.isFinite(value) || value < biasRange.min || value > biasRange.max
    ? undefined
    : value;
}

export const biasProblem = `The bias is from −${formatCount(biasRange.max)} to ${formatCount(biasRange.max)}.`;

/** Each choice once; a new bias takes the old one's place. */
export function withEntry(entries: readonly TokenEntry[], entry: TokenEntry): TokenEntry[] {
  const at = entries.findIndex(({ token }) => token === entry.token);
  return at < 0 ? [...entries, entry] : entries.map((old, index) => (index === at ? entry : old));
}

export function withoutEntry(entries: readonly TokenEntry[], token: TokenChoice): TokenEntry[] {
  return entries.filter((entry) => entry.token !== token);
}

const marks: Readonly<Record<string, string>> = { " ": "␣", "\n": "↵", "\t": "⇥", "\r": "␍", "\u00a0": "⍽" };

/** A token's text with its white space to be seen. */
export function visibleToken(text: string): string {
  return text === "" ? "(nothing)" : text.replace(/[ \n\t\r\u00a0]/g, (character) => marks[character] ?? character);
}

/** How a choice is called where its tokens are not known. */
export function choiceName(token: TokenChoice): string {
  return typeof token === "number" ? `token ${token}` : `“${visibleToken(token)}”`;
}
