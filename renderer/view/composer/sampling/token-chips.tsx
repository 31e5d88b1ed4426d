import type { TokenReading } from "../../../command/token.ts";
import { visibleToken } from "../../../logic/token-choice.ts";

export function TokenChips({ tokens }: { tokens: TokenReading["choices"][number] }) {
  return tokens.map(({ id, text }, index) => (
    // biome-ignore lint/suspicious/noArrayIndexKey: a text may hold a token twice, and the list only changes as a whole
    <span key={`${index} ${id}`} className="token-chip">
      <span>{visibleToken(text)}</span>
      <small>{id}</small>
    </span>
  ));
}
