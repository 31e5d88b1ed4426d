// Writes a GGUF's weights as F32 and everything else byte for byte: what the quantised file means, for an engine to compute exactly.
//   node test/oracle/dequantise.mjs IN.gguf OUT.gguf
import { closeSync, openSync, readFileSync, writeSync } from "node:fs";
import { fileURLToPath } from "node:url";

const sizes = { 0: 1, 1: 1, 2: 2, 3: 2, 4: 4, 5: 4, 6: 4, 7: 1, 10: 8, 11: 8, 12: 8 };

function half(bits) {
  const sign = bits & 0x8000 ? -1 : 1;
  const exponent = (bits >> 10) & 31;
  const fraction = bits & 1023;
  if (exponent === 0) return sign * fraction * 2 ** -24;
  if (exponent === 31) return fraction ? Number.NaN : sign * Number.POSITIVE_INFINITY;
  return sign * (1 + fraction / 1024) * 2 ** (exponent - 15);
}

/** Per tensor type: values and bytes of a block, and how a block is read. */
const formats = {
  0: { values: 1, bytes: 4, read: (data, at, out, to) => out.fill(data.readFloatLE(at), to, to + 1) },
  1: { values: 1, bytes: 2, read: (data, at, out, to) => out.fill(half(data.readUInt16LE(at)), to, to + 1) },
  2: {
    values: 32,
    bytes: 18,
    read: (data, at, out, to) => nibbles(data, at + 2, out, to, half(data.readUInt16LE(at)), null),
  },
  3: {
    values: 32,
    bytes: 20,
    read: (data, at, out, to) =>
      nibbles(data, at + 4, out, to, half(data.readUInt16LE(at)), half(data.readUInt16LE(at + 2))),
  },
  8: {
    values: 32,
    bytes: 34,
    read(data, at, out, to) {
      const scale = half(data.readUInt16LE(at));
      for (let i = 0; i < 32; i += 1) out[to + i] = scale * data.readInt8(at + 2 + i);
    },
  },
};

/** Low nibbles are the first sixteen values; without a minimum the codes are centred on 8. */
function nibbles(data, at, out, to, scale, minimum) {
  for (let i = 0; i < 16; i += 1) {
    const byte = data[at + i];
    for (const [offset, code] of [
      [0, byte & 15],
      [16, byte >> 4],
    ]) {
      out[to + i + offset] = minimum === null ? scale * (code - 8) : scale * code + minimum;
    }
  }
}

function readLayout(data) {
  if (data.toString("latin1", 0, 4) !== "GGUF") throw new Error("this is no GGUF file");
  let at = 8;
  const count = () => {
    at += 8;
    return Number(data.readBigUInt64LE(at - 8));
  };
  const word = () => {
    at += 4;
    return data.readUInt32LE(at - 4);
  };
  const string = () => {
    const length = count();
    at += length;
    return data.toString("utf8", at - length, at);
  };
  const skip = (type) => {
    if (type === 8) string();
    else if (type === 9) {
      const inner = word();
      const length = count();
      for (let i = 0; i < length; i += 1) skip(inner);
    } else at += sizes[type];
  };
  const tensorCount = count();
  const entries = count();
  let alignment = 32;
  for (let i = 0; i < entries; i += 1) {
    const key = string();
    const type = word();
    if (key === "general.alignment") alignment = data.readUInt32LE(at);
    skip(type);
  }
  const metadataEnd = at;
  const tensors = Array.from({ length: tensorCount }, () => {
    const name = string();
    const shape = Array.from({ length: word() }, count);
    const type = word();
    return { name, shape, type, offset: count() };
  });
  return { metadataEnd, tensors, alignment, begin: Math.ceil(at / alignment) * alignment };
}

export function dequantise(from, to) {
  const data = readFileSync(from);
  const { metadataEnd, tensors, alignment, begin } = readLayout(data);
  const up = (value) => Math.ceil(value / alignment) * alignment;
  const file = openSync(to, "w");
  let written = writeSync(file, data, 0, metadataEnd);
  let offset = 0;
  for (const { name, shape } of tensors) {
    const label = Buffer.from(name, "utf8");
    const info = Buffer.alloc(8 + label.length + 4 + 8 * shape.length + 4 + 8);
    info.writeBigUInt64LE(BigInt(label.length), 0);
    label.copy(info, 8);
    let at = info.writeUInt32LE(shape.length, 8 + label.length);
    for (const length of shape) at = info.writeBigUInt64LE(BigInt(length), at);
    at = info.writeUInt32LE(0, at);
    info.writeBigUInt64LE(BigInt(offset), at);
    written += writeSync(file, info);
    offset = up(offset + 4 * shape.reduce((product, length) => product * length, 1));
  }
  const pad = () => {
    written += writeSync(file, Buffer.alloc(up(written) - written));
  };
  pad();
  for (const { name, shape, type, offset: source } of tensors) {
    const format = formats[type];
    if (format === undefined) throw new Error(`${name} has the format ${type}, which is not known here`);
    const out = new Float32Array(shape.reduce((product, length) => product * length, 1));
    for (let block = 0; block < out.length / format.values; block += 1) {
      format.read(data, begin + source + block * format.bytes, out, block * format.values);
    }
    written += writeSync(file, Buffer.from(out.buffer));
    pad();
  }
  closeSync(file);
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const [, , from, to] = process.argv;
  if (from === undefined || to === undefined) throw new Error("usage: dequantise.mjs IN.gguf OUT.gguf");
  dequantise(from, to);
}
