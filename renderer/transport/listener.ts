/** Event and connection listeners, the same for both transports. */
import { checkEvent } from "../../app/contract/channel.ts";
import type { Client, ConnectionState } from "../../app/contract/client.ts";
import type { AnyEvent, EventName, EventPayload } from "../../app/contract/event.ts";
import { toWire } from "../../app/error.ts";

export interface Listeners extends Pick<Client, "on" | "onConnection"> {
  /** Checks the event and hands it on. One that cannot be read becomes a notice: nothing is dropped in silence. */
  receive(value: unknown): void;
  setConnection(state: ConnectionState): void;
  clear(): void;
}

/** `initial`: null where it is not known yet. */
export function createListeners(initial: ConnectionState | null): Listeners {
  const handlers = new Map<EventName, Set<(payload: never) => void>>();
  const watchers = new Set<(state: ConnectionState) => void>();
  let state = initial;

  function deliver(event: AnyEvent): void {
    for (const handler of [...(handlers.get(event.name) ?? [])]) handler(event.payload as never);
  }

  return {
    receive(value) {
      let event: AnyEvent;
      try {
        event = checkEvent(value);
      } catch (error) {
        const { message, hint } = toWire(error);
        event = { name: "notice", payload: { level: "error", message, hint } };
      }
      deliver(event);
    },
    setConnection(next) {
      if (next === state) return;
      state = next;
      for (const watcher of [...watchers]) watcher(state);
    },
    on<N extends EventName>(name: N, handler: (payload: EventPayload<N>) => void) {
      const set = handlers.get(name) ?? new Set();
      handlers.set(name, set);
      set.add(handler as (payload: never) => void);
      return () => void set.delete(handler as (payload: never) => void);
    },
    /** Told at once what is known already, so that a late subscriber misses nothing. */
    onConnection(handler) {
      watchers.add(handler);
      if (state !== null) handler(state);
      return () => void watchers.delete(handler);
    },
    clear() {
      handlers.clear();
      watchers.clear();
    },
  };
}
