/** The chat calls: what each adds to the tree, and the turn it starts. One turn at a time in a chat; chats do not wait for each other here. */

import type { Handlers } from "../../app/contract/client.ts";
import type { Message, ResponseFormat } from "../../app/contract/message.ts";
import type { Session } from "../../app/contract/session.ts";
import type { GrammarSource } from "../../app/engine.ts";
import { HalogenError } from "../../app/error.ts";
import { titleFrom } from "../../app/session/title.ts";
import type { ChatOptions } from "./collaborator.ts";
import { createDialectCache } from "./dialect-cache.ts";
import { readableToken, tokensOf } from "./token-text.ts";
import { startTurn, type Turn } from "./turn.ts";

export type ChatHandlers = Pick<Handlers, Extract<keyof Handlers, `chat.${string}`> | "model.tokens">;

export interface Chat {
  handlers: ChatHandlers;
  /** Whether a reply of this chat is under way. */
  running(sessionId: string): boolean;
  /** Ends the reply that is under way, if any; settles when it is stored. */
  stop(sessionId: string): Promise<void>;
  /** Ends every reply as `interrupted`, stores them, and takes no more. */
  close(): Promise<void>;
}

export function createChat(options: ChatOptions): Chat {
  const { store, library, emit, clock, newId } = options;
  const turns = new Map<string, Turn>();
  let closed = false;
  const dialects = createDialectCache(options.engine, options.prober, (dialect) => {
    for (const message of dialect.notices) emit({ name: "notice", payload: { level: "warning", message, hint: "" } });
  });

  /** The chat, when it is there and free. */
  const open = (sessionId: string): Session => {
    if (closed) throw new HalogenError("request.cancelled", "Halogen is closing");
    const session = store.session(sessionId);
    if (session === null) {
      throw new HalogenError("session.not_found", "This chat does not exist (any more)", { detail: { sessionId } });
    }
    if (turns.has(sessionId)) {
      throw new HalogenError("session.busy", "A reply in this chat is still being written", {
        hint: "Stop it first, or wait for its end.",
        detail: { sessionId },
      });
    }
    return session;
  };

  const find = (sessionId: string, messageId: string, role?: Message["role"]): Message => {
    const message = store.message(messageId);
    if (message === null || message.sessionId !== sessionId) {
      throw new HalogenError("message.not_found", "This message is not in the chat (any more)", {
        detail: { sessionId, messageId },
      });
    }
    if (role !== undefined && message.role !== role) {
      throw new HalogenError(
        "message.wrong_role",
        `This can be done to messages of role ${role}, not ${message.role}`,
        {
          detail: { messageId, role: message.role },
        },
      );
    }
    return message;
  };

  /** Known before anything is stored, so that a message to nobody stays in the composer. */
  const modelOf = (session: Session): { modelId: string; modelName: string } => {
    const model = session.modelId === null ? library.preferred() : library.get(session.modelId);
    if (model === null) throw noModel();
    return { modelId: model.id, modelName: model.name };
  };

  const created = (message: Omit<Message, "id" | "createdAt" | "error" | "stats">): Message => ({
    ...message,
    id: newId(),
    createdAt: clock(),
    error: null,
    stats: null,
  });

  const add = (message: Message): Message => {
    store.addMessage(message, { head: true });
    emit({ name: "message.changed", payload: message });
    return message;
  };

  const addUser = (sessionId: string, parentId: string | null, text: string, format: GrammarSource | null): Message =>
    add(
      created({
        ...(format === null ? {} : { responseFormat: format }),
        sessionId,
        parentId,
        role: "user",
        blocks: [{ type: "text", text }],
        status: "complete",
        modelId: null,
        modelName: null,
      }),
    );

  const addReply = (
    sessionId: string,
    parentId: string | null,
    model: { modelId: string; modelName: string },
    format: GrammarSource | null,
  ): Message =>
    add(
      created({
        sessionId,
        parentId,
        role: "assistant",
        blocks: [],
        status: "streaming",
        ...model,
        ...(format === null ? {} : { responseFormat: format }),
      }),
    );

  const start = (session: Session, reply: Message, continues: boolean): void => {
    const { sessionId, modelId } = reply;
    const path = store.pathTo(reply.id).filter((message) => message.id !== reply.id);
    const turn = startTurn({
      ...options,
      dialects,
      session,
      path,
      reply,
      continues,
      grammar: reply.responseFormat ?? null,
      modelId: modelId ?? "",
      queued: turns.size > 0,
      onEnd: () => turns.delete(sessionId),
    });
    turns.set(sessionId, turn);
  };

  /** Names the chat after its first user message, and says that it has changed. */
  const touch = (session: Session, user: Message | null): void => {
    const first = user !== null && !session.titled && session.messageCount === 0;
    const title = first ? titleFrom(user.blocks.map((block) => block.text).join("")) : null;
    emit({
      name: "session.changed",
      payload: store.updateSession(session.id, { touch: true, ...(title === null ? {} : { title }) }),
    });
  };

  const ask = (
    session: Session,
    parentId: string | null,
    text: string,
    grammar: GrammarSource | null,
  ): { user: Message; reply: Message } => {
    const model = modelOf(session);
    const user = addUser(session.id, parentId, text, grammar);
    const reply = addReply(session.id, user.id, model, grammar);
    touch(session, user);
    start(session, reply, false);
    return { user, reply };
  };

  const stop = async (sessionId: string): Promise<void> => {
    const turn = turns.get(sessionId);
    turn?.stop("user");
    await turn?.done;
  };

  return {
    handlers: {
      async "chat.send"({ sessionId, parentId, text, responseFormat }) {
        const session = open(sessionId);
        if (parentId !== null) find(sessionId, parentId);
        return ask(session, parentId, text, responseFormat ?? null);
      },
      async "chat.edit"({ sessionId, messageId, text, responseFormat }) {
        const session = open(sessionId);
        const message = find(sessionId, messageId, "user");
        return ask(session, message.parentId, text, formatOf(message, responseFormat));
      },
      async "chat.regenerate"({ sessionId, messageId, responseFormat }) {
        const session = open(sessionId);
        const message = find(sessionId, messageId, "assistant");
        const reply = addReply(sessionId, message.parentId, modelOf(session), formatOf(message, responseFormat));
        touch(session, null);
        start(session, reply, false);
        return { user: null, reply };
      },
      async "chat.continue"({ sessionId, messageId }) {
        const session = open(sessionId);
        const message = find(sessionId, messageId, "assistant");
        const reply: Message = { ...message, ...modelOf(session), status: "streaming", error: null };
        store.updateMessage(reply);
        store.setHead(sessionId, messageId);
        emit({ name: "message.changed", payload: reply });
        touch(session, null);
        start(session, reply, true);
        return { user: null, reply };
      },
      async "chat.stop"({ sessionId }) {
        await stop(sessionId);
        return {};
      },
      async "model.tokens"({ modelId, choices }) {
        const { tokenizer } = await dialects.get(await library.source(modelId));
        const read = (id: number) => ({ id, text: readableToken(tokenizer, id) });
        return { count: tokenizer.count, choices: choices.map((choice) => tokensOf(tokenizer, choice).map(read)) };
      },
    },
    running: (sessionId) => turns.has(sessionId),
    stop,
    close: async () => {
      closed = true;
      const running = [...turns.values()];
      for (const turn of running) turn.stop("closing");
      await Promise.all(running.map((turn) => turn.done));
    },
  };
}

/** What was asked for the message that is asked again, unless something else is. */
function formatOf(message: Message, wanted: ResponseFormat | null | undefined): ResponseFormat | null {
  return wanted === undefined ? (message.responseFormat ?? null) : wanted;
}

function noModel(): HalogenError {
  return new HalogenError("model.not_found", "There is no model to answer with", {
    hint: "Download the starter model, or put a GGUF file into the model folder.",
  });
}
