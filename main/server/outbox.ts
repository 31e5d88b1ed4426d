/**
 * What waits to be sent to one page. Frames keep their order. While the page is slow, deltas of one block grow together into one frame; when events
 * still pile up beyond the limit the page is told to start anew (`overflow`), so a page that sleeps does not fill our memory.
 */
import type { ServerFrame } from "../../app/contract/channel.ts";
import type { AnyEvent } from "../../app/contract/event.ts";

export interface OutboxOptions {
  /** Calls `done` when the bytes have left. */
  send(text: string, done: () => void): void;
  overflow(): void;
  /** Characters under way before frames wait here. */
  windowSize?: number;
  /** Most events and most characters of events that wait. */
  eventLimit?: number;
  characterLimit?: number;
}

export interface Outbox {
  reply(frame: ServerFrame): void;
  event(event: AnyEvent): void;
  close(): void;
}

type Delta = Extract<AnyEvent, { name: "message.delta" }>;
type Queued = { kind: "reply"; text: string } | { kind: "event"; event: AnyEvent; characters: number };

export function createOutbox(options: OutboxOptions): Outbox {
  const { windowSize = 1024 * 1024, eventLimit = 4096, characterLimit = 8 * 1024 * 1024 } = options;
  let queue: Queued[] = [];
  let underWay = 0;
  let waitingEvents = 0;
  let waitingCharacters = 0;
  let closed = false;

  function flush(): void {
    while (!closed && queue.length > 0 && underWay < windowSize) {
      const next = queue.shift();
      if (next === undefined) return;
      const text = next.kind === "reply" ? next.text : JSON.stringify({ type: "event", event: next.event });
      if (next.kind === "event") {
        waitingEvents -= 1;
        waitingCharacters -= next.characters;
      }
      underWay += text.length;
      options.send(text, () => {
        underWay -= text.length;
        flush();
      });
    }
  }

  function merge(delta: Delta["payload"]): boolean {
    const last = queue[queue.length - 1];
    if (last?.kind !== "event" || last.event.name !== "message.delta") return false;
    const before = last.event.payload;
    const follows =
      before.messageId === delta.messageId &&
      before.block === delta.block &&
      before.type === delta.type &&
      before.offset + before.text.length === delta.offset;
    if (!follows) return false;
    last.event = {
      name: "message.delta",
      payload: { ...delta, offset: before.offset, text: before.text + delta.text },
    };
    last.characters += delta.text.length;
    waitingCharacters += delta.text.length;
    return true;
  }

  function close(): void {
    closed = true;
    queue = [];
  }

  return {
    reply(frame) {
      if (closed) return;
      queue.push({ kind: "reply", text: JSON.stringify(frame) });
      flush();
    },
    event(event) {
      if (closed) return;
      if (event.name !== "message.delta" || !merge(event.payload)) {
        // The measure needs no exact size; only a message's text can be large and a delta's is known.
        const characters =
          event.name === "message.delta" ? event.payload.text.length : JSON.stringify(event.payload).length;
        queue.push({ kind: "event", event, characters });
        waitingEvents += 1;
        waitingCharacters += characters;
      }
      flush();
      if (waitingEvents <= eventLimit && waitingCharacters <= characterLimit) return;
      close();
      options.overflow();
    },
    close,
  };
}
