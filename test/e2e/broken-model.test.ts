/** Files that are no usable model: each says what is wrong with it, on the page and on the command line, and nothing crashes. */
import { spawnSync } from "node:child_process";
import { closeSync, copyFileSync, openSync, readSync, statSync, truncateSync, writeFileSync, writeSync } from "node:fs";
import { join, resolve } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { ErrorCode } from "../../app/error.ts";
import { browserForAll, openPage } from "../fixtures/browser.ts";
import { grown, replies, send } from "../fixtures/real-page.ts";
import { makeAppFolder, removeAppFolder, type ServedApp, serveApp } from "../fixtures/served-app.ts";
import { starterModel } from "../fixtures/starter-model.ts";

const program = resolve(import.meta.dirname, "../../dist/main/cli.cjs");

let folder: string;
let app: ServedApp;
const browser = browserForAll();

/** The first bytes of the starter, to be bent. */
function head(length: number): Buffer {
  const bytes = Buffer.alloc(length);
  const file = openSync(starterModel(), "r");
  readSync(file, bytes, 0, length, 0);
  closeSync(file);
  return bytes;
}

function string(text: string): Buffer {
  const bytes = Buffer.from(text, "utf8");
  const length = Buffer.alloc(8);
  length.writeBigUInt64LE(BigInt(bytes.length));
  return Buffer.concat([length, bytes]);
}

/** A header of version 3 without tensors whose one entry is an array of u8 that claims 2^60 elements. */
function hugeArray(): Buffer {
  const fixed = Buffer.alloc(24);
  fixed.write("GGUF", 0, "latin1");
  fixed.writeUInt32LE(3, 4);
  fixed.writeBigUInt64LE(0n, 8);
  fixed.writeBigUInt64LE(1n, 16);
  const array = Buffer.alloc(16);
  array.writeUInt32LE(9, 0);
  array.writeUInt32LE(0, 4);
  array.writeBigUInt64LE(2n ** 60n, 8);
  return Buffer.concat([fixed, string("general.anything"), array, Buffer.alloc(64)]);
}

/** The starter under another architecture's name of the same length. */
function renameArchitecture(path: string): void {
  copyFileSync(starterModel(), path);
  const bytes = head(4096);
  const key = Buffer.from("general.architecture", "latin1");
  // After the key: a type of four bytes and a length of eight.
  const at = bytes.indexOf(key) + key.length + 12;
  expect(bytes.toString("latin1", at, at + 5)).toBe("llama");
  const file = openSync(path, "r+");
  writeSync(file, Buffer.from("zlama", "latin1"), 0, 5, at);
  closeSync(file);
}

const makers: Record<string, { make(path: string): void; code: ErrorCode; words: RegExp }> = {
  "half.gguf": { make: (path) => cut(path, 0.5), code: "gguf.truncated", words: /cut|truncated|incomplete|ends/i },
  "last-byte.gguf": { make: (path) => cut(path, 1), code: "gguf.truncated", words: /cut|truncated|incomplete|ends/i },
  "in-header.gguf": { make: (path) => writeFileSync(path, head(1000)), code: "gguf.truncated", words: /header|ends/i },
  "text.gguf": {
    make: (path) => writeFileSync(path, "This is a text.\n".repeat(99)),
    code: "gguf.not_gguf",
    words: /GGUF/,
  },
  "empty.gguf": { make: (path) => writeFileSync(path, ""), code: "gguf.empty", words: /empty/i },
  "other.gguf": { make: renameArchitecture, code: "model.unknown_architecture", words: /zlama/ },
  "huge.gguf": {
    make: (path) => writeFileSync(path, hugeArray()),
    code: "gguf.limit",
    words: /1152921504606846976|1,152,921|array/i,
  },
};

/** Cut to this share of the file, and by at least one byte. */
function cut(path: string, share: number): void {
  copyFileSync(starterModel(), path);
  const { size } = statSync(path);
  truncateSync(path, Math.min(size - 1, Math.floor(size * share)));
}

beforeAll(async () => {
  folder = makeAppFolder();
  for (const [name, { make }] of Object.entries(makers)) make(join(folder, "models", name));
  app = await serveApp(folder);
});
afterAll(async () => {
  expect(await app.close()).toBe(0);
  removeAppFolder(folder);
});

interface Listed {
  models: { fileName: string; error: { code: string; message: string; hint: string } | null }[];
}

function halogen(...args: string[]) {
  const env = { ...process.env, HALOGEN_DATA: folder };
  return spawnSync(process.execPath, [program, ...args], { env, encoding: "utf8" });
}

describe("on the command line", () => {
  test("each has its own code and message", () => {
    const listed = halogen("models", "--json");
    expect(listed.status, listed.stderr).toBe(0);
    const { models } = JSON.parse(listed.stdout) as Listed;
    const messages = new Set<string>();
    for (const [name, { code, words }] of Object.entries(makers)) {
      const error = models.find((model) => model.fileName === name)?.error;
      expect(error?.code, name).toBe(code);
      expect(error?.message, name).toMatch(words);
      messages.add(error?.message ?? "");
    }
    expect(messages.size).toBe(Object.keys(makers).length);
    expect(models.find((model) => model.fileName.startsWith("SmolLM2"))?.error).toBeNull();
  });

  test.each(Object.keys(makers))("run with %s fails with its message and without a crash", (name) => {
    const ran = halogen("run", "--model", join(folder, "models", name), "--max-tokens", "4", "Hello");
    expect(ran.signal).toBeNull();
    expect(ran.status).not.toBe(0);
    expect(ran.stdout).toBe("");
    expect(ran.stderr).toMatch(makers[name]?.words ?? /never/);
    expect(ran.stderr).not.toMatch(/\n\s+at /);
  });
});

test("on the page each shows its message, and the good model answers", async () => {
  const { page, complaints } = await openPage(browser(), app.address);
  await page.getByRole("button", { name: /^Model: / }).click();
  const list = page.getByRole("dialog", { name: "Models" });
  await list.waitFor();
  for (const [name, { words }] of Object.entries(makers)) {
    const row = list.getByRole("listitem").filter({ has: page.getByText(name, { exact: true }) });
    expect(await row.innerText(), name).toMatch(words);
  }
  await page.keyboard.press("Escape");
  await send(page, "Name a colour.");
  await grown(replies(page).last(), 3);
  expect(app.enginePids()).toHaveLength(1);
  expect(complaints).toEqual([]);
  await page.context().close();
});
