import { copyFileSync, existsSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import Database from "better-sqlite3";
import { describe, expect, it } from "vitest";
import { backupPath, openDatabase } from "../../main/store/database.ts";
import { type Migration, migrations } from "../../main/store/migration/list.ts";
import { openStore } from "../../main/store/open.ts";
import { scratchFolder } from "./scratch.ts";

const fixtures = new URL("./fixture/", import.meta.url);

function copyOf(fixture: string): string {
  const path = join(scratchFolder(), "halogen.db");
  copyFileSync(new URL(fixture, fixtures), path);
  return path;
}

const newest = migrations.length;
const next: Migration = {
  version: newest + 1,
  name: "colour",
  sql: "ALTER TABLE session ADD COLUMN colour TEXT NOT NULL DEFAULT 'grey';",
};
const failing: Migration = {
  version: newest + 2,
  name: "broken",
  sql: "CREATE TABLE half (x); INSERT INTO nowhere VALUES (1);",
};

function ask(path: string, sql: string): unknown {
  const database = new Database(path, { readonly: true });
  try {
    return database.prepare(sql).pluck().get();
  } finally {
    database.close();
  }
}

describe("migrations", () => {
  it("are numbered without gaps, and each has a database of its version as a fixture", () => {
    expect(migrations.map((migration) => migration.version)).toEqual(migrations.map((_, index) => index + 1));
    const made = readdirSync(fixtures).filter((name) => name.endsWith(".db"));
    expect(made).toEqual(migrations.map(({ version }) => `${String(version).padStart(4, "0")}.db`));
  });

  it.each(readdirSync(fixtures).filter((name) => name.endsWith(".db")))("opens %s with all its chats", (fixture) => {
    const store = openStore({ path: copyOf(fixture), clock: () => 5 });
    try {
      expect(store.document("s1")).toMatchObject({
        session: {
          title: "Größe 模型",
          system: "Be brief.",
          headId: "m3",
          messageCount: 3,
          createdAt: 1_700_000_000_000,
        },
        messages: [
          { id: "m1" },
          { id: "m2", parentId: "m1", blocks: [{ type: "reasoning", tokens: 1 }, { text: "Apple, pear, plum" }] },
          { status: "streaming" },
        ],
      });
      expect(store.search("apple").map((hit) => hit.messageId)).toEqual(["m2"]);
      expect(store.setting("window")).toEqual({ width: 900 });
      expect(store.markInterrupted()).toMatchObject([{ id: "m3", status: "interrupted" }]);
    } finally {
      store.close();
    }
  });

  it("keeps a whole copy of the database before each step", () => {
    const path = copyOf("0001.db");
    openDatabase({ path, migrations: [...migrations, next] }).close();
    expect(ask(path, "PRAGMA user_version")).toBe(newest + 1);
    expect(ask(path, "SELECT colour FROM session")).toBe("grey");
    expect(ask(backupPath(path, newest), "PRAGMA user_version")).toBe(newest);
    const backup = backupPath(path, 1);
    expect(ask(backup, "PRAGMA user_version")).toBe(1);
    expect(ask(backup, "PRAGMA integrity_check")).toBe("ok");
    expect(ask(backup, "SELECT count(*) FROM message")).toBe(3);
    // The way back that the error text promises.
    copyFileSync(backup, path);
    const store = openStore({ path, clock: () => 5 });
    expect(store.document("s1")?.messages).toHaveLength(3);
    store.close();
  });

  it("undoes a step that fails and can be tried again", () => {
    const path = copyOf("0001.db");
    const list = [...migrations, next, failing];
    for (let i = 0; i < 2; i++) expect(() => openDatabase({ path, migrations: list })).toThrow("nowhere");
    expect(ask(path, "PRAGMA user_version")).toBe(newest + 1);
    expect(ask(path, "SELECT count(*) FROM sqlite_schema WHERE name = 'half'")).toBe(0);
    expect(existsSync(backupPath(path, newest + 1))).toBe(true);
    expect(readdirSync(dirname(path)).filter((name) => name.includes("partial"))).toEqual([]);
  });

  it("makes no backup of a database that is new", () => {
    const path = join(scratchFolder(), "halogen.db");
    openDatabase({ path, migrations }).close();
    expect(readdirSync(dirname(path))).toEqual(["halogen.db"]);
  });

  it("refuses a newer database and leaves it as it is", () => {
    const path = copyOf("0001.db");
    openDatabase({ path, migrations: [...migrations, next] }).close();
    const before = readFileSync(path);
    const names = readdirSync(dirname(path));
    expect(() => openStore({ path, clock: () => 5 })).toThrow(
      expect.objectContaining({
        code: "store.newer_schema",
        detail: expect.objectContaining({ version: newest + 1, newest }),
      }),
    );
    expect(readFileSync(path).equals(before)).toBe(true);
    expect(readdirSync(dirname(path))).toEqual(names);
  });
});

describe("files that are no chat database", () => {
  it.each([
    ["text", Buffer.from("These are my notes. ".repeat(500))],
    ["half a header", readFileSync(new URL("0001.db", fixtures)).subarray(0, 60)],
    [
      "a page of noise",
      Buffer.concat([readFileSync(new URL("0001.db", fixtures)).subarray(0, 100), Buffer.alloc(8092, 0xa5)]),
    ],
  ])("says that %s is damaged, and leaves it alone", (_name, bytes) => {
    const path = join(scratchFolder(), "halogen.db");
    writeFileSync(path, bytes);
    expect(() => openStore({ path, clock: () => 5 })).toThrow(
      expect.objectContaining({ code: "store.corrupt", hint: expect.stringMatching(/Move the file/) }),
    );
    expect(readFileSync(path).equals(bytes)).toBe(true);
  });

  it("says so of another program's database", () => {
    const path = join(scratchFolder(), "halogen.db");
    const other = new Database(path);
    other.exec("CREATE TABLE notes (x)");
    other.close();
    expect(() => openStore({ path, clock: () => 5 })).toThrow(
      expect.objectContaining({ code: "store.corrupt", message: expect.stringMatching(/another program/) }),
    );
    expect(ask(path, "SELECT count(*) FROM sqlite_schema")).toBe(1);
  });

  it("takes an empty file as a new database", () => {
    const path = join(scratchFolder(), "halogen.db");
    writeFileSync(path, "");
    const store = openStore({ path, clock: () => 5 });
    expect(store.listSessions()).toEqual([]);
    store.close();
  });

  it("names damage that shows only later", () => {
    const path = copyOf("0001.db");
    const bytes = readFileSync(path);
    // Everything behind the schema's page.
    bytes.fill(0x5a, 4096);
    writeFileSync(path, bytes);
    const work = (): void => {
      const store = openStore({ path, clock: () => 5 });
      try {
        store.document("s1");
      } finally {
        store.close();
      }
    };
    expect(work).toThrow(expect.objectContaining({ code: "store.corrupt" }));
  });
});
