import type { Message } from "../../app/contract/message.ts";
import type { Session } from "../../app/contract/session.ts";
import { noSampling } from "../../app/contract/session.ts";
import { HalogenError } from "../../app/error.ts";
import { createBlockWriter } from "./block-writer.ts";
import type { Database } from "./database.ts";
import type { Indexer } from "./indexer.ts";
import { messageNotFound, sessionNotFound } from "./reads.ts";
import type { Clock, Reads, SessionPatch, Writes } from "./store.ts";
import type { Tidy } from "./tidy.ts";

interface MessageKey {
  number: number;
  session: string;
}

export interface WritesOptions {
  database: Database;
  reads: Reads;
  clock: Clock;
  indexer: Omit<Indexer, "close">;
  tidy: Pick<Tidy, "request">;
}

export function createWrites({ database, reads, clock, indexer, tidy }: WritesOptions): Writes {
  const blocks = createBlockWriter(database);
  const addSession = database.prepare(
    `INSERT INTO session (id, title, titled, created_at, updated_at, pinned, system, model_id, sampling)
     VALUES (@id, @title, @titled, @now, @now, @pinned, @system, @modelId, @sampling)`,
  );
  const setSession = database.prepare(
    `UPDATE session SET title = @title, titled = @titled, pinned = @pinned, system = @system, model_id = @modelId, sampling = @sampling,
     updated_at = @updatedAt WHERE id = @id`,
  );
  const touch = database.prepare<[number, string]>("UPDATE session SET updated_at = max(updated_at, ?) WHERE id = ?");
  const hide = database.prepare<[number, string]>(
    "UPDATE session SET deleted_at = ? WHERE id = ? AND deleted_at IS NULL",
  );
  const unhide = database.prepare<[string]>(
    "UPDATE session SET deleted_at = NULL WHERE id = ? AND deleted_at IS NOT NULL",
  );
  const deletedMessages = database
    .prepare<[number], number>(
      "SELECT m.number FROM message m JOIN session s ON s.id = m.session WHERE s.deleted_at IS NOT NULL AND s.deleted_at < ?",
    )
    .pluck();
  const removeDeleted = database.prepare<[number]>(
    "DELETE FROM session WHERE deleted_at IS NOT NULL AND deleted_at < ?",
  );
  const key = database.prepare<[string], MessageKey>("SELECT number, session FROM message WHERE id = ?");
  const addRow = database.prepare(
    `INSERT INTO message (id, session, parent, role, status, error, created_at, model_id, model_name, stats, format)
     VALUES (@id, @sessionId, @parentId, @role, @status, @error, @createdAt, @modelId, @modelName, @stats, @format)`,
  );
  const setRow = database.prepare(
    "UPDATE message SET status = @status, error = @error, model_id = @modelId, model_name = @modelName, stats = @stats WHERE number = @number",
  );
  const setHead = database.prepare<[string, string]>(
    "INSERT INTO head (session, name, message) VALUES (?, 'main', ?) ON CONFLICT (session, name) DO UPDATE SET message = excluded.message",
  );
  const streaming = database.prepare<[], { number: number; id: string }>(
    "SELECT number, id FROM message WHERE status = 'streaming' ORDER BY number",
  );
  const interrupt = database.prepare<[number]>("UPDATE message SET status = 'interrupted' WHERE number = ?");
  const putSetting = database.prepare<[string, string]>(
    "INSERT INTO setting (key, value) VALUES (?, ?) ON CONFLICT (key) DO UPDATE SET value = excluded.value",
  );
  const removeSetting = database.prepare<[string]>("DELETE FROM setting WHERE key = ?");

  function existing(sessionId: string): Session {
    const session = reads.session(sessionId);
    if (session === null) throw sessionNotFound(sessionId);
    return session;
  }

  function existingKey(messageId: string): MessageKey {
    const found = key.get(messageId);
    if (found === undefined) throw messageNotFound(messageId);
    return found;
  }

  /** A reply is indexed when it is finished; until then search reads the reply itself. */
  function writeBlocks(messageNumber: number, message: Message): void {
    const finished = message.status !== "streaming";
    blocks.write(messageNumber, message.blocks, finished);
    if (!finished) return;
    indexer.enqueue(messageNumber);
    touch.run(clock(), message.sessionId);
  }

  function transact(action: () => void): void {
    database.transaction(action)();
    indexer.wake();
  }

  return {
    createSession(session) {
      addSession.run({
        id: session.id,
        title: session.title,
        titled: Number(session.titled ?? false),
        pinned: Number(session.pinned ?? false),
        system: session.system,
        modelId: session.modelId,
        sampling: JSON.stringify(session.sampling ?? noSampling),
        now: clock(),
      });
      return existing(session.id);
    },
    updateSession(sessionId, patch) {
      const { touch: touched, ...changes } = patch;
      const next: Session = { ...existing(sessionId), ...present(changes) };
      setSession.run({
        id: sessionId,
        title: next.title,
        titled: Number(next.titled),
        pinned: Number(next.pinned),
        system: next.system,
        modelId: next.modelId,
        sampling: JSON.stringify(next.sampling),
        updatedAt: touched ? clock() : next.updatedAt,
      });
      return existing(sessionId);
    },
    deleteSession(sessionId) {
      if (hide.run(clock(), sessionId).changes === 0) throw sessionNotFound(sessionId);
    },
    restoreSession(sessionId) {
      if (unhide.run(sessionId).changes === 0 && reads.session(sessionId) === null) throw sessionNotFound(sessionId);
      return existing(sessionId);
    },
    prune(deletedBefore) {
      let count = 0;
      transact(() => {
        for (const number of deletedMessages.all(deletedBefore) as number[]) indexer.remove(number);
        count = removeDeleted.run(deletedBefore).changes;
      });
      if (count > 0) tidy.request();
      return count;
    },
    addMessage(message, options = {}) {
      existing(message.sessionId);
      if (message.parentId !== null && existingKey(message.parentId).session !== message.sessionId)
        throw foreignMessage(message.parentId);
      let messageNumber = -1;
      try {
        transact(() => {
          const { id, sessionId, parentId, role, createdAt, responseFormat } = message;
          const format = responseFormat === undefined ? null : JSON.stringify(responseFormat);
          messageNumber = Number(
            addRow.run({ id, sessionId, parentId, role, createdAt, format, ...variable(message) }).lastInsertRowid,
          );
          writeBlocks(messageNumber, message);
          touch.run(clock(), sessionId);
          if (options.head === true) setHead.run(sessionId, id);
        });
      } catch (error) {
        blocks.forget(messageNumber);
        throw error;
      }
    },
    updateMessage(message) {
      const { number } = existingKey(message.id);
      try {
        transact(() => {
          setRow.run({ number, ...variable(message) });
          writeBlocks(number, message);
        });
      } catch (error) {
        blocks.forget(number);
        throw error;
      }
    },
    setHead(sessionId, messageId) {
      existing(sessionId);
      if (existingKey(messageId).session !== sessionId) throw foreignMessage(messageId);
      setHead.run(sessionId, messageId);
      return existing(sessionId);
    },
    setSetting(name, value) {
      if (value === undefined) removeSetting.run(name);
      else putSetting.run(name, JSON.stringify(value));
    },
    markInterrupted() {
      const left = streaming.all();
      transact(() => {
        for (const { number } of left) {
          interrupt.run(number);
          blocks.forget(number);
          indexer.enqueue(number);
        }
      });
      return left.flatMap(({ id }) => reads.message(id) ?? []);
    },
  };
}

function variable(message: Message): Record<string, string | null> {
  return {
    status: message.status,
    error: message.error === null ? null : JSON.stringify(message.error),
    modelId: message.modelId,
    modelName: message.modelName,
    stats: message.stats === null ? null : JSON.stringify(message.stats),
  };
}

/** An explicit undefined means: as it was. */
function present(patch: SessionPatch): Partial<Session> {
  return Object.fromEntries(Object.entries(patch).filter(([, value]) => value !== undefined));
}

function foreignMessage(messageId: string): HalogenError {
  return new HalogenError("request.invalid", "This message belongs to another chat", { detail: { messageId } });
}
