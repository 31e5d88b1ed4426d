import type { ResponseFormat } from "../../app/contract/message.ts";
import type { DocumentState } from "../store/document.ts";
import type { Page } from "../store/page.ts";
import type { UiState } from "../store/ui.ts";

/** So that the first reply in a format need not wait for what the loaded model takes to be held to one. */
export async function prepareFormat(page: Page, modelId: string): Promise<void> {
  await page.client.call("model.prepareFormat", { modelId });
}

/** What the next reply of the shown chat is held to: what was chosen here, else what its last question asked for. */
export function chatFormat(
  { sessions, messages }: Pick<DocumentState, "sessions" | "messages">,
  { sessionId, formats }: Pick<UiState, "sessionId" | "formats">,
): ResponseFormat | null {
  const chosen = formats.get(sessionId ?? "");
  if (chosen !== undefined || sessionId === null) return chosen ?? null;
  const known = messages.get(sessionId);
  let message = known?.get(sessions.get(sessionId)?.headId ?? "");
  while (message !== undefined && message.role !== "user") message = known?.get(message.parentId ?? "");
  return message?.responseFormat ?? null;
}
