import type { Reply } from "../../app/contract/call.ts";
import type { TokenChoice } from "../../app/contract/session.ts";
import type { Page } from "../store/page.ts";

export type TokenReading = Reply<"model.tokens">;

/** What choices of tokens stand for in a model. */
export function readTokens(page: Page, modelId: string, choices: readonly TokenChoice[]): Promise<TokenReading> {
  return page.client.call("model.tokens", { modelId, choices: [...choices] });
}
