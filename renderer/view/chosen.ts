/** What is chosen for the chat that is shown, be it stored or a new one. */
import type { Model } from "../../app/contract/model.ts";
import type { SamplingOptions } from "../../app/contract/session.ts";
import { chatModel } from "../command/model.ts";
import { useDocument, useUi } from "./page.ts";

/** The model that will answer; null when there is none. */
export function useChatModel(): Model | null {
  const sessionId = useUi((state) => state.sessionId);
  const newChat = useUi((state) => state.newChat);
  return useDocument((state) => chatModel(state, { sessionId, newChat }));
}

export function useChatSampling(): SamplingOptions {
  const sessionId = useUi((state) => state.sessionId);
  const unstored = useUi((state) => state.newChat.sampling);
  return useDocument((state) => (sessionId === null ? undefined : state.sessions.get(sessionId)?.sampling) ?? unstored);
}
