import { useEffect, useState } from "react";
import type { TokenChoice } from "../../../../app/contract/session.ts";
import { toWire } from "../../../../app/error.ts";
import { readTokens, type TokenReading } from "../../../command/token.ts";
import { usePage } from "../../page.ts";

export type TokensState =
  | { state: "none" }
  | { state: "reading" }
  | { state: "read"; reading: TokenReading }
  | { state: "failed"; message: string };

/** What these choices stand for in the model; asked for a moment after they have changed, so that typing is not answered letter by letter. */
export function useTokens(modelId: string | null, choices: readonly TokenChoice[], delay: number): TokensState {
  const page = usePage();
  const key = JSON.stringify([modelId, choices]);
  const [known, setKnown] = useState<{ key: string; state: TokensState } | null>(null);
  // biome-ignore lint/correctness/useExhaustiveDependencies: the key is the choices, which are a new array each time
  useEffect(() => {
    if (modelId === null || choices.length === 0) return undefined;
    let late = false;
    const keep = (state: TokensState) => {
      if (!late) setKnown({ key, state });
    };
    const timer = setTimeout(() => {
      readTokens(page, modelId, choices).then(
        (reading) => keep({ state: "read", reading }),
        (error: unknown) => keep({ state: "failed", message: toWire(error).message }),
      );
    }, delay);
    return () => {
      late = true;
      clearTimeout(timer);
    };
  }, [page, key, delay]);
  if (modelId === null || choices.length === 0) return { state: "none" };
  return known?.key === key ? known.state : { state: "reading" };
}
