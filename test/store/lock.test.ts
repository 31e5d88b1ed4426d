import { spawn } from "node:child_process";
import { once } from "node:events";
import { chmodSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { describe, expect, it } from "vitest";
import { openDatabase } from "../../main/store/database.ts";
import { guard } from "../../main/store/fault.ts";
import { migrations } from "../../main/store/migration/list.ts";
import { openStore } from "../../main/store/open.ts";
import { createReads } from "../../main/store/reads.ts";
import { createWrites } from "../../main/store/writes.ts";
import { addSession, message } from "./maker.ts";
import { scratchFolder, scratchStore } from "./scratch.ts";

const child = fileURLToPath(new URL("./stream-child.ts", import.meta.url));
const locked = expect.objectContaining({ code: "store.locked", hint: expect.stringMatching(/HALOGEN_DATA/) });

describe("one process at a time", () => {
  it("refuses a second opener in the same process, then lets it in", () => {
    const { store, path } = scratchStore();
    addSession(store);
    expect(() => openStore({ path, clock: () => 1, lockMilliseconds: 0 })).toThrow(locked);
    addSession(store, "s2");
    store.close();
    store.close();
    const next = openStore({ path, clock: () => 1, lockMilliseconds: 0 });
    expect(next.listSessions()).toHaveLength(2);
    next.close();
  });

  it("refuses a second process, and lets it in as soon as the first was killed", async () => {
    const path = join(scratchFolder(), "halogen.db");
    const first = spawn(process.execPath, [child, path, "m1"], { stdio: ["ignore", "pipe", "inherit"] });
    await once(first.stdout, "data");
    expect(() => openStore({ path, clock: () => 1, lockMilliseconds: 100 })).toThrow(locked);
    first.kill("SIGKILL");
    await once(first, "close");
    const store = openStore({ path, clock: () => 1, lockMilliseconds: 0 });
    expect(store.markInterrupted()).toHaveLength(1);
    store.close();
  });

  it("waits for one that is about to leave", async () => {
    const path = join(scratchFolder(), "halogen.db");
    const first = spawn(process.execPath, [child, path, "m1"], { stdio: ["ignore", "pipe", "inherit"] });
    await once(first.stdout, "data");
    const closed = once(first, "close");
    const killer = spawn(process.execPath, ["-e", `setTimeout(() => process.kill(${first.pid}, "SIGKILL"), 150)`]);
    const store = openStore({ path, clock: () => 1, lockMilliseconds: 10_000 });
    expect(store.listSessions()).toHaveLength(1);
    store.close();
    await Promise.all([closed, killer.exitCode === null ? once(killer, "close") : null]);
  });
});

describe("a full disk", () => {
  /** SQLite's own limit on the file's size gives the same SQLITE_FULL as a disk. */
  it("says so, keeps what was there, and goes on when there is room again", () => {
    const path = join(scratchFolder(), "halogen.db");
    const database = openDatabase({ path, migrations });
    const reads = createReads(database);
    const writes = guard(
      path,
      createWrites({
        database,
        reads,
        clock: () => 1,
        indexer: { enqueue: () => {}, remove: () => {}, wake: () => {} },
        tidy: { request: () => {} },
      }),
    );
    writes.createSession({ id: "s1", title: "t", system: "", modelId: null });
    writes.addMessage(message("m1", "kept", { role: "assistant", status: "streaming" }));
    const pages = Number(database.pragma("page_count", { simple: true }));
    database.pragma(`max_page_count = ${pages + 2}`);
    const long = message("m1", `kept ${"and much more ".repeat(10_000)}`, { role: "assistant", status: "streaming" });
    expect(() => writes.updateMessage(long)).toThrow(
      expect.objectContaining({ code: "store.disk_full", hint: expect.stringMatching(/Free some space/) }),
    );
    expect(reads.message("m1")?.blocks).toEqual([{ type: "text", text: "kept" }]);
    database.pragma("max_page_count = 100000");
    writes.updateMessage(long);
    expect(reads.message("m1")).toEqual(long);
    expect(database.pragma("integrity_check", { simple: true })).toBe("ok");
    database.close();
  });
});

describe("a place that cannot be used", () => {
  it("names it when a file is in the folder's way", () => {
    const folder = scratchFolder();
    writeFileSync(join(folder, "data"), "x");
    expect(() => openStore({ path: join(folder, "data", "halogen.db"), clock: () => 1 })).toThrow(
      expect.objectContaining({ code: "store.unavailable", hint: expect.stringMatching(/HALOGEN_DATA/) }),
    );
  });

  it("names it when the file is a folder", () => {
    const folder = scratchFolder();
    mkdirSync(join(folder, "halogen.db"));
    expect(() => openStore({ path: join(folder, "halogen.db"), clock: () => 1 })).toThrow(
      expect.objectContaining({ code: "store.unavailable" }),
    );
  });

  it.skipIf(process.getuid?.() === 0)("names it when the file may not be written (skipped for root, who may)", () => {
    const { store, path } = scratchStore();
    store.close();
    chmodSync(path, 0o400);
    const before = readFileSync(path);
    expect(() => openStore({ path, clock: () => 1 })).toThrow(expect.objectContaining({ code: "store.unavailable" }));
    expect(readFileSync(path).equals(before)).toBe(true);
  });
});
