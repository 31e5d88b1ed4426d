/** Opens the database file: lock, schema version, migrations with a backup before each. */
import { existsSync, mkdirSync, renameSync, rmSync } from "node:fs";
import { dirname } from "node:path";
import BetterSqlite from "better-sqlite3";
import { HalogenError } from "../../app/error.ts";
import { attempt } from "./fault.ts";
import type { Migration } from "./migration/list.ts";

export type Database = BetterSqlite.Database;

/** "HALO": tells our files from another program's. */
const applicationId = 0x48414c4f;

export interface DatabaseOptions {
  path: string;
  migrations: readonly Migration[];
  nativeBinding?: string | undefined;
  lockMilliseconds?: number | undefined;
}

export function backupPath(path: string, version: number): string {
  return `${path}.v${version}.backup`;
}

/** Throws store.newer_schema, store.locked, store.corrupt, store.disk_full or store.unavailable; then nothing has been changed. */
export function openDatabase(options: DatabaseOptions): Database {
  const { path } = options;
  makeFolder(path);
  const database = attempt(path, () => connect(options));
  try {
    attempt(path, () => {
      lock(database, options.lockMilliseconds ?? 2000);
      const version = checkedVersion(database, path, options.migrations);
      configure(database);
      migrate(database, path, version, options.migrations);
    });
  } catch (error) {
    database.close();
    throw error;
  }
  return database;
}

function makeFolder(path: string): void {
  try {
    mkdirSync(dirname(path), { recursive: true });
  } catch (error) {
    throw new HalogenError("store.unavailable", `The data folder ${dirname(path)} cannot be made: ${words(error)}`, {
      hint: "Check that you may write there, or choose another data folder with HALOGEN_DATA.",
      detail: { path },
      cause: error,
    });
  }
}

function connect({ path, nativeBinding }: DatabaseOptions): Database {
  return new BetterSqlite(path, nativeBinding === undefined ? { timeout: 0 } : { timeout: 0, nativeBinding });
}

/**
 * One process at a time: a second one would take this one's streaming replies for interrupted. The lock is the operating system's, so it ends
 * with the process, however that ends.
 */
function lock(database: Database, milliseconds: number): void {
  database.pragma("locking_mode = EXCLUSIVE");
  const end = Date.now() + milliseconds;
  for (;;) {
    try {
      // In a database that is not in WAL mode yet, only a write transaction takes the lock.
      database.exec("BEGIN IMMEDIATE; ROLLBACK");
      return;
    } catch (error) {
      const busy = String(Reflect.get(Object(error), "code")).startsWith("SQLITE_BUSY");
      if (!busy || Date.now() >= end) throw error;
      pause(50);
    }
  }
}

function pause(milliseconds: number): void {
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, milliseconds);
}

function checkedVersion(database: Database, path: string, migrations: readonly Migration[]): number {
  const version = Number(database.pragma("user_version", { simple: true }));
  const owner = Number(database.pragma("application_id", { simple: true }));
  const empty = database.prepare("SELECT count(*) FROM sqlite_schema").pluck().get() === 0;
  if (owner !== applicationId && !(empty && version === 0)) {
    throw new HalogenError("store.corrupt", `${path} is a database of another program`, {
      hint: "Choose another data folder with HALOGEN_DATA, or move this file away.",
      detail: { path, version, applicationId: owner },
    });
  }
  const newest = migrations.length;
  if (version > newest) {
    throw new HalogenError(
      "store.newer_schema",
      `Your chats were saved by a newer Halogen (format ${version}; this one knows ${newest})`,
      {
        hint: `Start the newer version again. Nothing has been changed. To go back for good, use a .backup file beside ${path}.`,
        detail: { path, version, newest },
      },
    );
  }
  return version;
}

/**
 * synchronous = NORMAL: a commit never waits for the disk, survives kill -9, and no power failure can damage the file; disk-sync.ts brings
 * each commit to the disk right behind.
 */
function configure(database: Database): void {
  database.pragma("journal_mode = WAL");
  database.pragma("synchronous = NORMAL");
  database.pragma("secure_delete = ON");
  database.pragma("journal_size_limit = 16777216");
}

function migrate(database: Database, path: string, from: number, migrations: readonly Migration[]): void {
  database.pragma("foreign_keys = OFF");
  for (const migration of migrations.slice(from)) {
    // Of a database that is made now there is nothing to keep.
    if (from > 0) backup(database, backupPath(path, migration.version - 1));
    database.transaction(() => {
      database.exec(migration.sql);
      const broken = database.pragma("foreign_key_check") as unknown[];
      if (broken.length > 0) {
        throw new HalogenError(
          "store.corrupt",
          `Migration ${migration.version} (${migration.name}) would lose ${broken.length} links; it was undone`,
          {
            hint: "Your chats are as they were. Please report this with the version you came from.",
            detail: { path, version: migration.version, rows: broken.length },
          },
        );
      }
      database.pragma(`user_version = ${migration.version}`);
      database.pragma(`application_id = ${applicationId}`);
    })();
  }
  database.pragma("foreign_keys = ON");
}

/** A whole copy under a temporary name first: a half-written backup never bears the final name. */
function backup(database: Database, target: string): void {
  const partial = `${target}.partial`;
  if (existsSync(partial)) rmSync(partial);
  database.prepare("VACUUM INTO ?").run(partial);
  renameSync(partial, target);
}

function words(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
