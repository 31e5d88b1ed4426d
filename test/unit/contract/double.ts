/** A service for the contract suite: real checks, handlers that the test sets, and values that satisfy every reply schema. */
import type { CallName, Reply } from "../../../app/contract/call.ts";
import { callNames } from "../../../app/contract/call.ts";
import type { Handlers, Service } from "../../../app/contract/client.ts";
import type { AnyEvent } from "../../../app/contract/event.ts";
import { noSampling, type Session } from "../../../app/contract/session.ts";
import { HalogenError } from "../../../app/error.ts";
import { createHub, createService } from "../../../main/service.ts";

export interface Double {
  service: Service;
  emit(event: AnyEvent): void;
  /** Replaces what a call does. */
  set<N extends CallName>(name: N, run: Handlers[N]): void;
  /** Calls that reached a handler, in order. */
  seen: { name: string; request: unknown }[];
}

export function createDouble(): Double {
  const seen: Double["seen"] = [];
  const hub = createHub((error) => {
    throw error;
  });
  const handlers = Object.fromEntries(
    callNames.map((name) => [
      name,
      async (request: unknown) => {
        seen.push({ name, request });
        throw new HalogenError("internal", `${name} was not expected`);
      },
    ]),
  ) as unknown as Handlers;
  return {
    service: createService(handlers, hub),
    emit: hub.emit,
    set(name, run) {
      handlers[name] = (async (request: never) => {
        seen.push({ name, request });
        return run(request);
      }) as never;
    },
    seen,
  };
}

export const info: Reply<"app.info"> = {
  version: "1.2.3",
  platform: "test",
  dataFolder: "/data",
  modelFolder: "/models",
  shell: "browser",
};

export function makeSession(id: string): Session {
  return {
    id,
    title: "模型　é😀",
    titled: false,
    createdAt: 1,
    updatedAt: 2,
    pinned: false,
    system: "",
    modelId: null,
    sampling: noSampling,
    headId: null,
    messageCount: 0,
  };
}

export function makeDelta(offset: number, text: string): Extract<AnyEvent, { name: "message.delta" }> {
  return {
    name: "message.delta",
    payload: {
      sessionId: "s",
      messageId: "m",
      block: 0,
      type: "text",
      offset,
      text,
      tokens: offset + 1,
      tokensPerSecond: 1,
    },
  };
}
