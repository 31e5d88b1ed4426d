import type { Block, Message } from "../../app/contract/message.ts";
import type { Store } from "../../main/store/store.ts";

export function addSession(store: Store, id = "s1", title = "New chat"): void {
  store.createSession({ id, title, system: "", modelId: null });
}

export function message(id: string, text: string | Block[], more: Partial<Message> = {}): Message {
  return {
    id,
    sessionId: "s1",
    parentId: null,
    role: "user",
    blocks: typeof text === "string" ? [{ type: "text", text }] : text,
    status: "complete",
    error: null,
    createdAt: 5,
    modelId: null,
    modelName: null,
    stats: null,
    ...more,
  };
}
