/**
 * FTS5 only marks what is removed from a contentless index; the words go when its segments are merged. That rewrites the whole index, so it is
 * done in small steps behind everything else, and goes on at the next start when the app ends before it is through.
 */
import type { Database } from "./database.ts";

export interface Tidy {
  /** Something was removed from the index. */
  request(): void;
  close(): void;
}

const key = "store.tidy";
/** Index pages per step: a few milliseconds. */
const pages = 8;
const pauseMilliseconds = 100;
/** What may be done at once when the store opens; a small index is through by then. */
const firstMilliseconds = 60;

export function createTidy(database: Database, report: (error: unknown) => void): Tidy {
  const owed = database.prepare<[string]>("SELECT 1 FROM setting WHERE key = ?").pluck();
  const owe = database.prepare<[string]>("INSERT OR IGNORE INTO setting (key, value) VALUES (?, 'true')");
  const settle = database.prepare<[string]>("DELETE FROM setting WHERE key = ?");
  const changes = database.prepare("SELECT total_changes()").pluck();
  const merge = database.prepare<[number]>("INSERT INTO message_text (message_text, rank) VALUES ('merge', ?)");
  let timer: NodeJS.Timeout | null = null;
  let begun = false;

  /** True when there is nothing left to merge. A negative number gathers all segments first, whatever their level. */
  function step(): boolean {
    const before = Number(changes.get());
    merge.run(begun ? pages : -pages);
    begun = true;
    return Number(changes.get()) - before < 2;
  }

  function work(milliseconds: number): void {
    timer = null;
    const end = Date.now() + milliseconds;
    try {
      do {
        if (!step()) continue;
        settle.run(key);
        // What was removed must also leave the write-ahead log.
        database.pragma("wal_checkpoint(TRUNCATE)");
        return;
      } while (Date.now() < end);
    } catch (error) {
      // A full disk, say: the next start tries again.
      report(error);
      return;
    }
    timer = setTimeout(() => work(0), pauseMilliseconds);
    timer.unref();
  }

  if (owed.get(key) !== undefined) work(firstMilliseconds);

  return {
    request() {
      owe.run(key);
      begun = false;
      if (timer === null) work(firstMilliseconds);
    },
    close() {
      if (timer !== null) clearTimeout(timer);
    },
  };
}
