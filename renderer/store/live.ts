/** What changes many times a second: replies as they stream, and telemetry. Gathered as it comes, shown once a frame. */
import { createStore, type StoreApi } from "zustand/vanilla";
import type { Telemetry } from "../../app/contract/engine.ts";
import type { EventPayload } from "../../app/contract/event.ts";
import type { Block, Message } from "../../app/contract/message.ts";
import { applyDelta, type Delta, furtherOf } from "../logic/stream.ts";

export type Progress = Pick<EventPayload<"message.progress">, "phase" | "done" | "total">;

export interface LiveReply {
  sessionId: string;
  messageId: string;
  blocks: readonly Block[];
  tokens: number;
  tokensPerSecond: number;
  /** What the reply waits for; null once it has its first token. */
  progress: Progress | null;
  /** When this page first saw each block, in the clock's milliseconds: for the running time of a reasoning block. */
  blockStarts: readonly number[];
}

export interface LiveState {
  replies: ReadonlyMap<string, LiveReply>;
  telemetry: Telemetry | null;
}

export interface LiveStore extends StoreApi<LiveState> {
  /** Takes a streaming message as the base of what follows; a further copy that is already here wins. */
  begin(message: Message): void;
  /** False when text before the delta is missing: the session must be read again. */
  delta(delta: Delta): boolean;
  progress(event: EventPayload<"message.progress">): void;
  end(messageId: string): void;
  /** Forgets all replies: after a lost connection nothing is known of them. */
  clear(): void;
  telemetry(telemetry: Telemetry): void;
}

export interface LiveOptions {
  /** Runs `flush` in the next frame. */
  schedule(flush: () => void): void;
  clock(): number;
}

export function createLiveStore({ schedule, clock }: LiveOptions): LiveStore {
  const store = createStore<LiveState>(() => ({ replies: new Map(), telemetry: null }));
  const pending = new Map<string, LiveReply>();
  /** Deltas that came before the text they follow; applied when that text is read. */
  const early = new Map<string, Delta[]>();
  let scheduled = false;

  function current(messageId: string): LiveReply | undefined {
    return pending.get(messageId) ?? store.getState().replies.get(messageId);
  }

  function flush(): void {
    scheduled = false;
    if (pending.size === 0) return;
    store.setState({ replies: new Map([...store.getState().replies, ...pending]) });
    pending.clear();
  }

  function put(reply: LiveReply): void {
    pending.set(reply.messageId, reply);
    if (scheduled) return;
    scheduled = true;
    schedule(flush);
  }

  function fresh(sessionId: string, messageId: string, blocks: readonly Block[]): LiveReply {
    return {
      sessionId,
      messageId,
      blocks,
      tokens: 0,
      tokensPerSecond: 0,
      progress: null,
      blockStarts: blocks.map(clock),
    };
  }

  function take(delta: Delta): boolean {
    const known = current(delta.messageId) ?? fresh(delta.sessionId, delta.messageId, []);
    const blocks = applyDelta(known.blocks, delta);
    if (blocks === null) return false;
    const blockStarts = blocks.length > known.blockStarts.length ? [...known.blockStarts, clock()] : known.blockStarts;
    put({
      ...known,
      blocks,
      blockStarts,
      tokens: delta.tokens,
      tokensPerSecond: delta.tokensPerSecond,
      progress: null,
    });
    return true;
  }

  return Object.assign(store, {
    begin(message: Message) {
      const known = current(message.id);
      put(
        known
          ? { ...known, blocks: furtherOf(known.blocks, message.blocks) }
          : fresh(message.sessionId, message.id, message.blocks),
      );
      const waiting = early.get(message.id) ?? [];
      early.delete(message.id);
      for (const delta of waiting) take(delta);
      flush();
    },
    delta(delta: Delta) {
      if (take(delta)) return true;
      const waiting = early.get(delta.messageId);
      if (waiting) waiting.push(delta);
      else early.set(delta.messageId, [delta]);
      return false;
    },
    progress({ sessionId, messageId, phase, done, total }: EventPayload<"message.progress">) {
      put({ ...(current(messageId) ?? fresh(sessionId, messageId, [])), progress: { phase, done, total } });
    },
    end(messageId: string) {
      early.delete(messageId);
      pending.delete(messageId);
      const { replies } = store.getState();
      if (!replies.has(messageId)) return;
      const next = new Map(replies);
      next.delete(messageId);
      store.setState({ replies: next });
    },
    clear() {
      early.clear();
      pending.clear();
      store.setState({ replies: new Map() });
    },
    telemetry(telemetry: Telemetry) {
      store.setState({ telemetry });
    },
  });
}
