/** What both transports talk to: checks a request, runs its handler, checks the reply; and hands events to every listener. */
import type { CallName } from "../app/contract/call.ts";
import { checkName, checkReply, checkRequest } from "../app/contract/channel.ts";
import type { Handlers, Service } from "../app/contract/client.ts";
import type { AnyEvent } from "../app/contract/event.ts";

export interface Hub {
  emit(event: AnyEvent): void;
  subscribe(listener: (event: AnyEvent) => void): () => void;
}

/** Events reach listeners in the order of `emit`. One listener's fault reaches `report` and does not keep the event from the others. */
export function createHub(report: (error: unknown) => void): Hub {
  const listeners = new Set<(event: AnyEvent) => void>();
  return {
    emit(event) {
      for (const listener of [...listeners]) {
        try {
          listener(event);
        } catch (error) {
          report(error);
        }
      }
    },
    subscribe(listener) {
      listeners.add(listener);
      return () => void listeners.delete(listener);
    },
  };
}

export function createService(handlers: Handlers, hub: Pick<Hub, "subscribe">): Service {
  async function run<N extends CallName>(name: N, request: unknown): Promise<unknown> {
    return checkReply(name, await handlers[name](checkRequest(name, request)));
  }
  return {
    handle: async (name, request) => run(checkName(name), request),
    subscribe: hub.subscribe,
  };
}
