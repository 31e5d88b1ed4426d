import { openDatabase } from "./database.ts";
import { createDiskSync } from "./disk-sync.ts";
import { attempt, guard, translate } from "./fault.ts";
import { createIndexer } from "./indexer.ts";
import { migrations } from "./migration/list.ts";
import { createReads } from "./reads.ts";
import { createTextOf } from "./search.ts";
import type { Store, StoreOptions } from "./store.ts";
import { createTidy } from "./tidy.ts";
import { createWrites } from "./writes.ts";

/**
 * Opens or makes the database, brings it to this version's schema and removes for good what the user deleted before. Throws store.newer_schema,
 * store.locked, store.corrupt, store.disk_full or store.unavailable.
 */
export function openStore(options: StoreOptions): Store {
  const { path, clock, report = () => {} } = options;
  const database = openDatabase({ ...options, migrations });
  try {
    const reads = attempt(path, () => createReads(database));
    const tell = (error: unknown): void => report(translate(error, path));
    const tidy = attempt(path, () => createTidy(database, tell));
    const indexer = attempt(path, () => createIndexer(database, createTextOf(database), tell));
    const writes = attempt(path, () => createWrites({ database, reads, clock, indexer, tidy }));
    attempt(path, () => writes.prune(Number.MAX_SAFE_INTEGER));
    indexer.wake();
    const sync = createDiskSync(`${path}-wal`, report);
    return {
      path,
      ...guard(path, reads),
      ...guard(path, writes, () => sync.request()),
      close() {
        sync.close();
        tidy.close();
        indexer.close();
        attempt(path, () => void database.close());
      },
    };
  } catch (error) {
    database.close();
    throw error;
  }
}
