/** What a turn needs from the rest of main, and no more: the store and the library fit these shapes. */
import type { AnyEvent } from "../../app/contract/event.ts";
import type { Message } from "../../app/contract/message.ts";
import type { Model } from "../../app/contract/model.ts";
import type { Session } from "../../app/contract/session.ts";
import type { Engine, EngineProgress, LoadedModel, ModelInspection } from "../../app/engine.ts";
import type { Prober } from "./prober.ts";

/** Synchronous; what it throws is a HalogenError. */
export interface ChatStore {
  session(sessionId: string): Session | null;
  message(messageId: string): Message | null;
  /** From the root down to this message. */
  pathTo(messageId: string): Message[];
  addMessage(message: Message, options?: { head?: boolean }): void;
  /** The whole message as it is now. */
  updateMessage(message: Message): void;
  updateSession(sessionId: string, patch: { title?: string; touch?: boolean }): Session;
  setHead(sessionId: string, messageId: string): Session;
}

/** A loaded model; it stays loaded until `release`, which is idempotent. */
export interface ModelLease {
  model: Model;
  path: string;
  inspection: ModelInspection;
  loaded: LoadedModel;
  release(): void;
}

export interface ChatLibrary {
  /** Throws model.not_found. */
  get(modelId: string): Model;
  /** The model of chats that name none; null when there is none. */
  preferred(): Model | null;
  /** Its file and what is known of it, without loading it. Rejects with model.not_found or the file's fault. */
  source(modelId: string): Promise<Pick<ModelLease, "path" | "inspection">>;
  /** Loads it, after others that use another model are done. */
  acquire(
    modelId: string,
    options: { onProgress?: (progress: EngineProgress) => void; signal?: AbortSignal },
  ): Promise<ModelLease>;
}

export interface ChatOptions {
  store: ChatStore;
  library: ChatLibrary;
  engine: Pick<Engine, "generate" | "vocabulary">;
  prober: Pick<Prober, "probe">;
  emit: (event: AnyEvent) => void;
  /** Milliseconds since the epoch. */
  clock: () => number;
  newId: () => string;
}
