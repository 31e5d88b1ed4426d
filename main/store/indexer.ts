/**
 * Brings finished messages into the search index behind everything else: indexing takes about a second per megabyte, and main must not stand
 * still. What is not through yet stands in `unindexed`, which survives a restart, and search reads those messages themselves.
 */
import type { Database } from "./database.ts";
import { fold } from "./fold.ts";
import { indexForm } from "./query.ts";

export interface Indexer {
  /** Inside the transaction that changed the message. */
  enqueue(messageNumber: number): void;
  /** Inside the transaction that removes the message. */
  remove(messageNumber: number): void;
  /** Takes up what is waiting; harmless when nothing is. */
  wake(): void;
  close(): void;
}

/** A message is indexed in parts, each a row of its own: number * 4096 + part. */
const mostParts = 4096;
const partLength = 16_384;
/** More than any term is looked up by (34 characters), so that none is lost between two parts. */
const overlap = 256;
const pauseMilliseconds = 10;

/** SQL for the message that a row of the index belongs to. */
export const messageOfRow = `rowid / ${mostParts}`;

export function createIndexer(
  database: Database,
  textOf: (messageNumber: number) => string,
  report: (error: unknown) => void,
): Indexer {
  const next = database.prepare<[], { message: number; part: number }>("SELECT message, part FROM unindexed LIMIT 1");
  const put = database.prepare<[number]>(
    "INSERT INTO unindexed (message) VALUES (?) ON CONFLICT (message) DO UPDATE SET part = 0",
  );
  const advance = database.prepare<[number, number]>("UPDATE unindexed SET part = ? WHERE message = ?");
  const done = database.prepare<[number]>("DELETE FROM unindexed WHERE message = ?");
  const remove = database.prepare<[number, number]>("DELETE FROM message_text WHERE rowid BETWEEN ? AND ?");
  const insert = database.prepare<[number, string]>("INSERT INTO message_text (rowid, text) VALUES (?, ?)");
  let timer: NodeJS.Timeout | null = null;
  let closed = false;
  /** The text in work: a long one is not read again for each of its parts. */
  let current: { message: number; text: string } | null = null;

  /** One part. False when nothing is waiting. */
  function step(): boolean {
    const waiting = next.get();
    if (waiting === undefined) return false;
    const { message, part } = waiting;
    if (current?.message !== message) current = { message, text: textOf(message) };
    const { text } = current;
    const from = part * partLength;
    const last = from + partLength >= text.length || part === mostParts - 1;
    const folded = fold(text.slice(Math.max(0, from - overlap), from + partLength));
    database.transaction(() => {
      if (folded.trim() !== "") insert.run(message * mostParts + part, indexForm(folded));
      if (last) done.run(message);
      else advance.run(part + 1, message);
    })();
    if (last) current = null;
    return true;
  }

  function schedule(): void {
    if (closed || timer !== null) return;
    timer = setTimeout(() => {
      timer = null;
      try {
        if (step()) schedule();
      } catch (error) {
        // A full disk, say. It is taken up again with the next message or at the next start.
        report(error);
      }
    }, pauseMilliseconds);
    timer.unref();
  }

  function forget(messageNumber: number): void {
    if (current?.message === messageNumber) current = null;
    remove.run(messageNumber * mostParts, messageNumber * mostParts + mostParts - 1);
  }

  return {
    enqueue(messageNumber) {
      forget(messageNumber);
      put.run(messageNumber);
    },
    remove: forget,
    wake: schedule,
    close() {
      closed = true;
      if (timer !== null) clearTimeout(timer);
    },
  };
}
