/** A chat over the scripted engine and a real store in memory. */
import type { AnyEvent, EventName, EventPayload } from "../../../../app/contract/event.ts";
import type { Message } from "../../../../app/contract/message.ts";
import type { Model } from "../../../../app/contract/model.ts";
import { noSampling, ourSampling, type SamplingOptions, type Session } from "../../../../app/contract/session.ts";
import type { Engine } from "../../../../app/engine.ts";
import { HalogenError } from "../../../../app/error.ts";
import { createTree } from "../../../../app/session/tree.ts";
import { type Chat, createChat } from "../../../../main/chat/chat.ts";
import type { ChatLibrary, ChatStore } from "../../../../main/chat/collaborator.ts";
import { probeTemplate } from "../../../../main/chat/probe.ts";
import type { Prober } from "../../../../main/chat/prober.ts";
import { compileTemplate } from "../../../../main/chat/template.ts";
import { openStore } from "../../../../main/store/open.ts";
import type { Store } from "../../../../main/store/store.ts";
import {
  createScriptedEngine,
  type ScriptedEngine,
  type ScriptedEngineOptions,
} from "../../../fixtures/scripted-engine.ts";
import type { Script } from "../../../fixtures/scripted-engine-script.ts";

export interface HarnessOptions extends ScriptedEngineOptions {
  /** The replies, in order; the last one is repeated. */
  replies?: readonly Script[];
  /** Stands between the chat and the engine. */
  wrapEngine?: (engine: ScriptedEngine) => Pick<Engine, "generate" | "vocabulary">;
  wrapStore?: (store: Store) => ChatStore;
  onEvent?: (event: AnyEvent) => void;
  prober?: Pick<Prober, "probe">;
  wrapLibrary?: (library: ChatLibrary) => ChatLibrary;
}

export interface Harness {
  chat: Chat;
  store: Store;
  engine: ScriptedEngine;
  events: AnyEvent[];
  /** How often leases were taken and given back. */
  leases: { taken: number; released: number };
  session(patch?: { system?: string; sampling?: Partial<SamplingOptions> }): Session;
  /** Sends below the head that is shown. */
  send(session: Session, text: string): Promise<{ user: Message; reply: Message }>;
  /** The message when its reply has ended. */
  ended(messageId: string): Promise<Message>;
  ask(session: Session, text: string): Promise<Message>;
  /** The next event that fits, or one that was seen already. */
  until<N extends EventName>(name: N, fits?: (payload: EventPayload<N>) => boolean): Promise<EventPayload<N>>;
  /** The prompts that the engine was given, as text with markup. */
  prompts(): string[];
  of<N extends EventName>(name: N): EventPayload<N>[];
}

export const modelId = "model";

/** Looks at templates in this thread. */
export const inlineProber = { probe: async (source: string) => probeTemplate(compileTemplate(source)) };

export function harness(options: HarnessOptions = {}): Harness {
  const replies = options.replies;
  const engine = createScriptedEngine({
    ...(replies === undefined ? {} : { script: ({ index }) => replies[Math.min(index, replies.length - 1)] ?? [] }),
    ...options,
  });
  const store = openStore({ path: ":memory:", clock: Date.now });
  const events: AnyEvent[] = [];
  const listeners = new Set<() => void>();
  const leases = { taken: 0, released: 0 };
  const model = {
    id: modelId,
    name: "Scripted",
    defaults: { ...ourSampling, temperature: 0.7, topP: 0.9 },
  } as Model;

  let loaded: ReturnType<ScriptedEngine["load"]> | null = null;
  const library: ChatLibrary = {
    get: (id) => {
      if (id !== modelId) throw new HalogenError("model.not_found", "no such model");
      return model;
    },
    preferred: () => model,
    source: async (id) => {
      if (id !== modelId) throw new HalogenError("model.not_found", "no such model");
      return { path: "/models/scripted.gguf", inspection: await engine.inspect("/models/scripted.gguf") };
    },
    acquire: async (_, { onProgress, signal }) => {
      const path = "/models/scripted.gguf";
      loaded ??= engine.load(
        { path, backend: "auto", contextLength: 0, kvType: "f16", threads: 0 },
        onProgress,
        signal,
      );
      loaded.catch(() => {
        loaded = null;
      });
      const got = await loaded;
      leases.taken++;
      let free = false;
      const release = (): void => {
        if (!free) leases.released++;
        free = true;
      };
      return { model, path, inspection: await engine.inspect(path), loaded: got, release };
    },
  };

  let made = 0;
  const chat = createChat({
    store: options.wrapStore?.(store) ?? store,
    engine: options.wrapEngine?.(engine) ?? engine,
    prober: options.prober ?? inlineProber,
    library: options.wrapLibrary?.(library) ?? library,
    emit: (event) => {
      events.push(event);
      options.onEvent?.(event);
      for (const listener of [...listeners]) listener();
    },
    clock: Date.now,
    newId: () => `id-${made++}`,
  });

  const until: Harness["until"] = (name, fits = () => true) =>
    new Promise((resolve) => {
      const look = (): void => {
        for (const event of events) {
          if (event.name !== name || !fits(event.payload as never)) continue;
          listeners.delete(look);
          resolve(event.payload as never);
          return;
        }
      };
      listeners.add(look);
      look();
    });

  const self: Harness = {
    chat,
    store,
    engine,
    events,
    leases,
    session: ({ system = "", sampling = {} } = {}) => {
      return store.createSession({
        id: `session-${made++}`,
        title: "New chat",
        system,
        modelId: null,
        sampling: { ...noSampling, ...sampling },
      });
    },
    send: async (session, text) => {
      const parentId = store.session(session.id)?.headId ?? null;
      const { user, reply } = await chat.handlers["chat.send"]({ sessionId: session.id, parentId, text });
      if (user === null) throw new Error("send has made no user message");
      return { user, reply };
    },
    // A continued message has ended before: the last state counts.
    ended: async (messageId) => {
      const streaming = (): boolean => {
        const last = self
          .of("message.changed")
          .filter((message) => message.id === messageId)
          .pop();
        return last?.status === "streaming";
      };
      await new Promise<void>((resolve) => {
        const look = (): void => {
          if (streaming()) return;
          listeners.delete(look);
          resolve();
        };
        listeners.add(look);
        look();
      });
      const message = store.message(messageId);
      if (message === null) throw new Error(`no message ${messageId}`);
      return message;
    },
    ask: async (session, text) => self.ended((await self.send(session, text)).reply.id),
    until,
    prompts: () => engine.requests.map((request) => engine.words.decode(request.tokens)),
    of: (name) => events.filter((event) => event.name === name).map((event) => event.payload as never),
  };
  return self;
}

/** Text and reasoning of a message. */
export function shown(message: Message): { text: string; reasoning: string } {
  const of = (type: "text" | "reasoning"): string =>
    message.blocks
      .filter((block) => block.type === type)
      .map((block) => block.text)
      .join("");
  return { text: of("text"), reasoning: of("reasoning") };
}

/** What a reader who only follows the events has in the end. */
export function replayed(events: readonly AnyEvent[], messageId: string): string[] {
  const blocks: string[] = [];
  for (const event of events) {
    if (event.name !== "message.delta" || event.payload.messageId !== messageId) continue;
    const { block, offset, text } = event.payload;
    if ((blocks[block] ?? "").length !== offset) throw new Error(`a delta at ${offset} does not fit`);
    blocks[block] = (blocks[block] ?? "") + text;
  }
  return blocks;
}

export function treeOf(store: Store, sessionId: string) {
  return createTree(store.document(sessionId)?.messages ?? []);
}
