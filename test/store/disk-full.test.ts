/** A disk that is really full: a small memory disk, which only root can make. Elsewhere lock.test.ts and the download tests stand for it. */
import { spawn, spawnSync } from "node:child_process";
import { createHash, randomBytes } from "node:crypto";
import { existsSync, mkdirSync, rmSync, statfsSync, statSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import Database from "better-sqlite3";
import { afterAll, beforeAll, describe, expect, it, vi } from "vitest";
import type { Entry } from "../../main/model/catalogue.ts";
import { fetchEntry } from "../../main/model/fetch-entry.ts";
import { openSettings } from "../../main/setting/settings.ts";
import { openStore } from "../../main/store/open.ts";
import { addSession, message } from "./maker.ts";

const disk = join("/tmp", `halogen-disk-${process.pid}`);

function mount(): boolean {
  if (process.platform !== "linux" || process.getuid?.() !== 0) return false;
  mkdirSync(disk);
  if (spawnSync("mount", ["-t", "tmpfs", "-o", "size=2m", "halogen-test", disk]).status === 0) return true;
  rmSync(disk, { recursive: true });
  return false;
}

const mounted = mount();

describe.skipIf(!mounted)("a full disk (skipped where no memory disk can be mounted)", () => {
  const filler = join(disk, "filler");
  beforeAll(() => expect(statSync(disk).dev).not.toBe(statSync("/tmp").dev));
  afterAll(() => {
    expect(spawnSync("umount", [disk]).status).toBe(0);
    rmSync(disk, { recursive: true });
  });

  function fillUp(): void {
    expect(() => writeFileSync(filler, Buffer.alloc(4_000_000))).toThrow("ENOSPC");
  }

  it("costs the store nothing that was written, and it goes on when there is room again", () => {
    const path = join(disk, "data", "halogen.db");
    let store = openStore({ path, clock: () => 1 });
    addSession(store);
    store.addMessage(message("m1", "kept", { role: "assistant", status: "streaming" }));
    fillUp();
    const long = message("m1", `kept ${"and much more ".repeat(20_000)}`, { role: "assistant", status: "streaming" });
    expect(() => store.updateMessage(long)).toThrow(expect.objectContaining({ code: "store.disk_full" }));
    expect(store.message("m1")?.blocks).toEqual([{ type: "text", text: "kept" }]);
    store.close();
    store = openStore({ path, clock: () => 1 });
    expect(store.document("s1")?.messages).toHaveLength(1);
    rmSync(filler);
    store.updateMessage(long);
    expect(store.message("m1")).toEqual(long);
    store.close();
    const database = new Database(path, { readonly: true });
    expect(database.pragma("integrity_check", { simple: true })).toBe("ok");
    database.close();
    rmSync(join(disk, "data"), { recursive: true });
  });

  it("leaves the settings file as it was", () => {
    const path = join(disk, "settings.json");
    openSettings({ path, clock: () => 1 }).update({ theme: "dark" });
    fillUp();
    const settings = openSettings({ path, clock: () => 1 });
    expect(() => settings.update({ theme: "light" })).toThrow(expect.objectContaining({ code: "store.unavailable" }));
    rmSync(filler);
    expect(openSettings({ path, clock: () => 1 }).read().theme).toBe("dark");
    rmSync(path);
  });

  it("ends a download with what to do, keeps its part, and goes on from there", async () => {
    const bytes = randomBytes(1_500_000);
    const ranges: (string | undefined)[] = [];
    const server = createServer((request, response) => {
      ranges.push(request.headers.range);
      const from = Number(/\d+/.exec(request.headers.range ?? "0")?.[0]);
      const range = { "content-range": `bytes ${from}-${bytes.length - 1}/${bytes.length}` };
      response.writeHead(from > 0 ? 206 : 200, {
        etag: '"1"',
        "content-length": bytes.length - from,
        ...(from > 0 ? range : {}),
      });
      response.end(bytes.subarray(from));
    });
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
    const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/m.gguf`;
    const sha256 = createHash("sha256").update(bytes).digest("hex");
    const sources: Entry["sources"] = [
      { kind: "http", label: "hub", url },
      { kind: "http", label: "mirror", url },
    ];
    const entry: Entry = {
      id: "m",
      name: "M",
      description: "",
      licence: "MIT",
      starter: true,
      file: "m.gguf",
      bytes: bytes.length,
      sha256,
      sources,
    };
    const target = join(disk, "m.gguf");
    const fetch = (freeBytes?: () => Promise<null>): Promise<void> =>
      fetchEntry({
        entry,
        target,
        folder: join(disk, ".partial"),
        signal: new AbortController().signal,
        spawn,
        platform: "linux",
        variables: {},
        onProgress: () => {},
        freeBytes,
      });
    // The store's last sync may still hold its log.
    await vi.waitFor(() => expect(statfsSync(disk).bavail * statfsSync(disk).bsize).toBeGreaterThan(2_000_000), 10_000);
    writeFileSync(filler, Buffer.alloc(1_000_000));
    try {
      await expect(fetch()).rejects.toMatchObject({
        code: "download.failed",
        message: expect.stringMatching(/^M needs 1.5 MB of disk space, and 1.[01] MB are free$/),
      });
      expect(ranges).toEqual([]);
      // As on a host that cannot ask for the free space, or whose disk fills up meanwhile.
      await expect(fetch(async () => null)).rejects.toMatchObject({
        code: "download.failed",
        detail: { system: "ENOSPC" },
        hint: expect.stringContaining("goes on where it stopped"),
      });
      expect(ranges).toEqual([undefined]);
      rmSync(filler);
      await fetch();
      expect(Number(/\d+/.exec(ranges[1] ?? "")?.[0])).toBeGreaterThan(500_000);
      expect(existsSync(target)).toBe(true);
    } finally {
      server.close();
    }
  });
});
