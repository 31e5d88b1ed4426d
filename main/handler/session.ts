/** Calls on sessions: the store does the work; what changed is told to every page. */
import type { Handlers } from "../../app/contract/client.ts";
import type { AnyEvent } from "../../app/contract/event.ts";
import { HalogenError } from "../../app/error.ts";
import { createTree } from "../../app/session/tree.ts";
import type { Store } from "../store/store.ts";

type SessionCall = Extract<keyof Handlers, `session.${string}`>;

export interface SessionHandlerOptions {
  store: Store;
  emit(event: AnyEvent): void;
  newId(): string;
  /** Ends a reply of this session that streams, and settles when it is stored. */
  stop(sessionId: string): Promise<void>;
}

const newTitle = "New chat";

export function createSessionHandlers(options: SessionHandlerOptions): Pick<Handlers, SessionCall> {
  const { store, emit, newId } = options;
  const changed = <T extends ReturnType<Store["updateSession"]>>(session: T): T => {
    emit({ name: "session.changed", payload: session });
    return session;
  };

  return {
    "session.list": async () => ({ sessions: store.listSessions() }),
    async "session.create"({ modelId, system }) {
      const session = { id: newId(), title: newTitle, system: system ?? "", modelId: modelId ?? null };
      return changed(store.createSession(session));
    },
    async "session.open"({ sessionId }) {
      const document = store.document(sessionId);
      if (document === null) throw noSession(sessionId);
      return document;
    },
    async "session.update"({ sessionId, sampling, title, pinned, system, modelId }) {
      const before = store.session(sessionId);
      if (before === null) throw noSession(sessionId);
      return changed(
        store.updateSession(sessionId, {
          ...(title === undefined ? {} : { title, titled: true }),
          ...(pinned === undefined ? {} : { pinned }),
          ...(system === undefined ? {} : { system }),
          ...(modelId === undefined ? {} : { modelId }),
          ...(sampling === undefined ? {} : { sampling: { ...before.sampling, ...given(sampling) } }),
        }),
      );
    },
    async "session.delete"({ sessionId }) {
      await options.stop(sessionId);
      store.deleteSession(sessionId);
      emit({ name: "session.removed", payload: { sessionId } });
      return {};
    },
    "session.restore": async ({ sessionId }) => changed(store.restoreSession(sessionId)),
    async "session.select"({ sessionId, messageId }) {
      const document = store.document(sessionId);
      if (document === null) throw noSession(sessionId);
      const tree = createTree(document.messages);
      if (tree.get(messageId) === undefined) {
        throw new HalogenError("message.not_found", "This message is not in the chat (any more).", {
          detail: { sessionId, messageId },
        });
      }
      return changed(store.setHead(sessionId, tree.newestLeaf(messageId)));
    },
    "session.search": async ({ query, limit }) => ({ hits: store.search(query, limit) }),
  };
}

/** Without the keys that are present and undefined, which would erase what was there. */
function given<T extends object>(patch: T): { [K in keyof T]: Exclude<T[K], undefined> } {
  return Object.fromEntries(Object.entries(patch).filter(([, value]) => value !== undefined)) as never;
}

function noSession(sessionId: string): HalogenError {
  return new HalogenError("session.not_found", "This chat does not exist (any more).", {
    hint: "It may have been deleted in another window.",
    detail: { sessionId },
  });
}
