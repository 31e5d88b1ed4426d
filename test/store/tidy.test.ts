/** Words of a removed chat leave the search index, in steps, over restarts. */
import { readdirSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import Database from "better-sqlite3";
import { afterEach, beforeEach, expect, it, vi } from "vitest";
import { openDatabase } from "../../main/store/database.ts";
import { migrations } from "../../main/store/migration/list.ts";
import { createTidy } from "../../main/store/tidy.ts";
import { addSession, message } from "./maker.ts";
import { scratchStore } from "./scratch.ts";

/** Words that no other text has, three letters each, so that they stand in the index as they are. */
const words = (seed: number): string =>
  Array.from({ length: 400 }, (_, i) => String.fromCharCode(0x3400 + ((i * 7 + seed * 401) % 6000)).repeat(3)).join(
    " ",
  );

function traces(path: string, word: string): boolean {
  const folder = dirname(path);
  return readdirSync(folder).some((name) => readFileSync(join(folder, name)).includes(word));
}

beforeEach(() => vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] }));
afterEach(() => vi.useRealTimers());

it("removes the words in the background, and goes on after a restart", () => {
  const scratch = scratchStore();
  addSession(scratch.store, "s1", "T");
  addSession(scratch.store, "s2", "T");
  for (let i = 0; i < 60; i++) scratch.store.addMessage(message(`k${i}`, words(i), { sessionId: "s2" }));
  const gone = "䷀䷁䷂";
  scratch.store.addMessage(message("m1", gone));
  vi.runAllTimers();
  scratch.store.deleteSession("s1");
  scratch.reopen();
  scratch.store.close();

  // Whatever is left is owed, and done by the next ones who open it.
  for (let round = 0; round < 50; round++) {
    const database = new Database(scratch.path, { readonly: true });
    const owed = database.prepare("SELECT count(*) FROM setting WHERE key = 'store.tidy'").pluck().get();
    database.close();
    if (owed === 0) break;
    scratch.reopen();
    scratch.store.close();
  }
  expect(traces(scratch.path, gone)).toBe(false);
  scratch.reopen();
  expect(scratch.store.search(words(3).slice(0, 3)).length).toBeGreaterThan(0);
  expect(scratch.store.search(gone)).toEqual([]);
});

it("tells of a fault and leaves the rest to the next start", () => {
  const { path, store } = scratchStore();
  store.close();
  const database = openDatabase({ path, migrations });
  const faults: unknown[] = [];
  const tidy = createTidy(database, (error) => faults.push(error));
  database.exec("DROP TABLE message_text");
  tidy.request();
  expect(faults).toHaveLength(1);
  expect(database.prepare("SELECT count(*) FROM setting WHERE key = 'store.tidy'").pluck().get()).toBe(1);
  tidy.close();
  database.close();
});
