/** Takes one member out of a ZIP archive (a Python wheel): stored or deflated, with ZIP64, checked by its CRC. */
import { createReadStream, createWriteStream } from "node:fs";
import { type FileHandle, open } from "node:fs/promises";
import { Transform } from "node:stream";
import { pipeline } from "node:stream/promises";
import { createInflateRaw } from "node:zlib";

export interface UnzipOptions {
  archive: string;
  member: string;
  target: string;
  signal: AbortSignal;
  onBytes: (written: number) => void;
}

interface Member {
  method: number;
  crc: number;
  packed: number;
  bytes: number;
  offset: number;
}

const endSignature = 0x06054b50;
const end64Signature = 0x06064b50;
const locator64Signature = 0x07064b50;
const centralSignature = 0x02014b50;
const localSignature = 0x04034b50;

/** Rejects with an Error that says what is wrong with the archive. */
export async function unzipMember({ archive, member, target, signal, onBytes }: UnzipOptions): Promise<void> {
  const file = await open(archive, "r");
  let found: Member;
  let start: number;
  try {
    found = await findMember(file, (await file.stat()).size, member);
    start = await dataStart(file, found.offset);
  } finally {
    await file.close();
  }
  if (found.method !== 0 && found.method !== 8)
    throw new Error(`${member} is packed in an unknown way (${found.method})`);
  let written = 0;
  let crc = 0;
  const check = new Transform({
    transform(chunk: Buffer, _encoding, done) {
      written += chunk.length;
      crc = crc32(chunk, crc);
      onBytes(written);
      done(written > found.bytes ? new Error(`${member} is longer than the archive says`) : null, chunk);
    },
  });
  const source = createReadStream(archive, { start, end: start + found.packed - 1 });
  const sink = createWriteStream(target);
  if (found.method === 8) await pipeline(source, createInflateRaw(), check, sink, { signal });
  else await pipeline(source, check, sink, { signal });
  if (written !== found.bytes || crc !== found.crc) throw new Error(`${member} is damaged in the archive`);
}

async function findMember(file: FileHandle, size: number, name: string): Promise<Member> {
  const { offset, length, count } = await directoryOf(file, size);
  const directory = await read(file, offset, length);
  let at = 0;
  for (let i = 0; i < count; i++) {
    if (at + 46 > directory.length || directory.readUInt32LE(at) !== centralSignature) break;
    const nameLength = directory.readUInt16LE(at + 28);
    const extraLength = directory.readUInt16LE(at + 30);
    const next = at + 46 + nameLength + extraLength + directory.readUInt16LE(at + 32);
    if (directory.toString("utf8", at + 46, at + 46 + nameLength) === name) {
      return toMember(
        directory.subarray(at, next),
        directory.subarray(at + 46 + nameLength, at + 46 + nameLength + extraLength),
      );
    }
    at = next;
  }
  throw new Error(`the archive does not contain ${name}`);
}

async function directoryOf(file: FileHandle, size: number): Promise<{ offset: number; length: number; count: number }> {
  const tail = await read(file, Math.max(0, size - 65_557), Math.min(size, 65_557));
  let at = tail.length - 22;
  // The comment behind it may hold the same four bytes; only the real one ends with the file.
  const isEnd = (from: number): boolean =>
    tail.readUInt32LE(from) === endSignature && from + 22 + tail.readUInt16LE(from + 20) === tail.length;
  while (at >= 0 && !isEnd(at)) at--;
  if (at < 0) throw new Error("it is not a ZIP archive, or its end is missing");
  const plain = {
    count: tail.readUInt16LE(at + 10),
    length: tail.readUInt32LE(at + 12),
    offset: tail.readUInt32LE(at + 16),
  };
  if (plain.count !== 0xffff && plain.length !== 0xffffffff && plain.offset !== 0xffffffff) return bounded(plain, size);
  if (at < 20 || tail.readUInt32LE(at - 20) !== locator64Signature) throw new Error("its ZIP64 directory is missing");
  const end = await read(file, Number(tail.readBigUInt64LE(at - 12)), 56);
  if (end.readUInt32LE(0) !== end64Signature) throw new Error("its ZIP64 directory is damaged");
  const wide = { count: end.readBigUInt64LE(32), length: end.readBigUInt64LE(40), offset: end.readBigUInt64LE(48) };
  return bounded({ count: Number(wide.count), length: Number(wide.length), offset: Number(wide.offset) }, size);
}

function bounded<T extends { offset: number; length: number }>(directory: T, size: number): T {
  if (directory.offset + directory.length > size) throw new Error("its directory lies outside the file");
  return directory;
}

function toMember(header: Buffer, extra: Buffer): Member {
  const member = {
    method: header.readUInt16LE(10),
    crc: header.readUInt32LE(16),
    packed: header.readUInt32LE(20),
    bytes: header.readUInt32LE(24),
    offset: header.readUInt32LE(42),
  };
  // ZIP64: the fields that did not fit follow in this order.
  for (let at = 0; at + 4 <= extra.length; at += 4 + extra.readUInt16LE(at + 2)) {
    if (extra.readUInt16LE(at) !== 1) continue;
    let value = at + 4;
    for (const field of ["bytes", "packed", "offset"] as const) {
      if (member[field] !== 0xffffffff || value + 8 > extra.length) continue;
      member[field] = Number(extra.readBigUInt64LE(value));
      value += 8;
    }
  }
  return member;
}

async function dataStart(file: FileHandle, offset: number): Promise<number> {
  const header = await read(file, offset, 30);
  if (header.readUInt32LE(0) !== localSignature) throw new Error("a member's header is damaged");
  return offset + 30 + header.readUInt16LE(26) + header.readUInt16LE(28);
}

async function read(file: FileHandle, position: number, length: number): Promise<Buffer> {
  const buffer = Buffer.alloc(length);
  const { bytesRead } = await file.read(buffer, 0, length, position);
  if (bytesRead !== length) throw new Error("the archive ends too early");
  return buffer;
}

const crcTable = Uint32Array.from({ length: 256 }, (_, index) => {
  let value = index;
  for (let bit = 0; bit < 8; bit++) value = value & 1 ? (value >>> 1) ^ 0xedb88320 : value >>> 1;
  return value;
});

/** zlib.crc32 came with Node 22; the oldest host here is Node 16. */
export function crc32(bytes: Uint8Array, previous = 0): number {
  let crc = ~previous;
  for (let i = 0; i < bytes.length; i++) crc = (crcTable[(crc ^ (bytes[i] ?? 0)) & 0xff] ?? 0) ^ (crc >>> 8);
  return ~crc >>> 0;
}
