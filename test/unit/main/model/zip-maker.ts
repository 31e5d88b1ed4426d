/** Makes ZIP archives for tests, right or wrong on purpose. */
import { deflateRawSync } from "node:zlib";
import { crc32 } from "../../../../main/model/unzip.ts";

export interface Member {
  name: string;
  bytes: Buffer;
  stored?: boolean;
  crc?: number;
}

/** Sizes and offsets in ZIP64 fields when `wide`. */
export function zip(members: Member[], { wide = false, comment = "" } = {}): Buffer {
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
