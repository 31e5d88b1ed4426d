import type { Message } from "../../app/contract/message.ts";
import type { Session } from "../../app/contract/session.ts";
import { HalogenError } from "../../app/error.ts";
import type { Database } from "./database.ts";
import { type BlockRow, type MessageRow, type SessionRow, toMessage, toSession } from "./row.ts";
import { createSearch } from "./search.ts";
import type { Reads } from "./store.ts";

interface PieceRow {
  message: number;
  position: number;
  type: unknown;
  attributes: unknown;
  text: unknown;
}

/** A head that is missing shows the newest message rather than an empty chat. */
const sessionColumns = `
  s.id, s.title, s.titled, s.created_at, s.updated_at, s.pinned, s.system, s.model_id, s.sampling,
  coalesce(
    (SELECT h.message FROM head h WHERE h.session = s.id AND h.name = 'main'),
    (SELECT m.id FROM message m WHERE m.session = s.id ORDER BY m.number DESC LIMIT 1)
  ) AS head,
  (SELECT count(*) FROM message m WHERE m.session = s.id) AS message_count`;

const pieceColumns = "b.message, b.position, b.type, b.attributes, p.text";

export function createReads(database: Database): Reads {
  const listSessions = database.prepare<[], SessionRow>(
    `SELECT ${sessionColumns} FROM session s WHERE s.deleted_at IS NULL ORDER BY s.pinned DESC, s.updated_at DESC, s.rowid DESC`,
  );
  const oneSession = database.prepare<[string], SessionRow>(
    `SELECT ${sessionColumns} FROM session s WHERE s.id = ? AND s.deleted_at IS NULL`,
  );
  const messagesOf = database.prepare<[string], MessageRow>("SELECT * FROM message WHERE session = ? ORDER BY number");
  const piecesOf = database.prepare<[string], PieceRow>(
    `SELECT ${pieceColumns} FROM message m JOIN block b ON b.message = m.number LEFT JOIN piece p ON p.block = b.number
     WHERE m.session = ? ORDER BY b.message, b.position, p.number`,
  );
  const oneMessage = database.prepare<[string], MessageRow>("SELECT * FROM message WHERE id = ?");
  const piecesOfMessage = database.prepare<[number], PieceRow>(
    `SELECT ${pieceColumns} FROM block b LEFT JOIN piece p ON p.block = b.number WHERE b.message = ? ORDER BY b.position, p.number`,
  );
  const ancestors = database.prepare<[string], MessageRow>(
    `WITH RECURSIVE path (number, parent) AS (
       SELECT number, parent FROM message WHERE id = ?
       UNION SELECT m.number, m.parent FROM path JOIN message m ON m.id = path.parent
     ) SELECT * FROM message WHERE number IN (SELECT number FROM path) ORDER BY number`,
  );
  const interrupted = database.prepare<[], MessageRow>(
    "SELECT * FROM message WHERE status = 'interrupted' ORDER BY number DESC",
  );
  const setting = database.prepare<[string], { value: string }>("SELECT value FROM setting WHERE key = ?");

  const read = (row: MessageRow): Message =>
    toMessage(row, assemble(piecesOfMessage.all(row.number)).get(row.number) ?? []);

  function session(sessionId: string): Session | null {
    const row = oneSession.get(sessionId);
    return row === undefined ? null : toSession(row);
  }

  return {
    listSessions: () => listSessions.all().map(toSession),
    session,
    document(sessionId) {
      const found = session(sessionId);
      if (found === null) return null;
      const blocks = assemble(piecesOf.all(sessionId));
      const messages = messagesOf.all(sessionId).map((row) => toMessage(row, blocks.get(row.number) ?? []));
      return { session: found, messages: withoutLostParents(messages) };
    },
    message(messageId) {
      const row = oneMessage.get(messageId);
      return row === undefined ? null : read(row);
    },
    pathTo(messageId) {
      const rows = ancestors.all(messageId);
      if (rows.length === 0) throw messageNotFound(messageId);
      return rows.map(read);
    },
    search: createSearch(database, listSessions),
    setting(key) {
      const row = setting.get(key);
      return row === undefined ? undefined : parse(row.value);
    },
    interrupted: () => interrupted.all().map(read),
  };
}

/** Rows in order of message, position and piece; a block's pieces are joined. */
function assemble(rows: PieceRow[]): Map<number, BlockRow[]> {
  const messages = new Map<number, BlockRow[]>();
  let parts: string[] = [];
  let previous: PieceRow | null = null;
  const finish = (): void => {
    if (previous === null) return;
    const blocks = messages.get(previous.message) ?? [];
    blocks.push({ type: previous.type, attributes: previous.attributes, text: parts.join("") });
    messages.set(previous.message, blocks);
    parts = [];
  };
  for (const row of rows) {
    if (previous !== null && (row.message !== previous.message || row.position !== previous.position)) finish();
    if (typeof row.text === "string") parts.push(row.text);
    previous = row;
  }
  finish();
  return messages;
}

/** A message whose parent is not there is shown as a first one: nothing may become unreachable. */
function withoutLostParents(messages: Message[]): Message[] {
  const seen = new Set<string>();
  return messages.map((message) => {
    const lost = message.parentId !== null && !seen.has(message.parentId);
    seen.add(message.id);
    return lost ? { ...message, parentId: null } : message;
  });
}

function parse(value: string): unknown {
  try {
    return JSON.parse(value);
  } catch {
    return undefined;
  }
}

export function messageNotFound(messageId: string): HalogenError {
  return new HalogenError("message.not_found", "This message is no longer there", { detail: { messageId } });
}

export function sessionNotFound(sessionId: string): HalogenError {
  return new HalogenError("session.not_found", "This chat is no longer there", {
    hint: "It may have been deleted in another window.",
    detail: { sessionId },
  });
}
