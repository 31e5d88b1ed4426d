#!/usr/bin/env python3
"""Writes test/fixtures/block/golden.bin.gz: random and adversarial GGUF blocks with the floats that others make of them.

Needs `pip install gguf numpy`, a C compiler and llama.cpp's sources (they are inside the source package of
llama-cpp-python, vendor/llama.cpp); the tests read the file and need none of these.
Run: python test/oracle/make_block_golden.py <folder of llama.cpp>
The floats are those of `gguf`, and of llama.cpp's dequantisers where `gguf` has none (Q1_0, Q2_0). Where both have one,
they must agree to the bit; the script says where they do not. Codebook formats have every codebook entry in their blocks.
File: "HGBLOCK1", then per format: name char[8], elements uint32, bytes uint32, blocks, float[elements], little-endian.
"""

import ctypes
import gzip
import pathlib
import struct
import subprocess
import sys
import tempfile

import gguf
import numpy as np
from gguf.quants import dequantize, quantize

# Name, type id, weights and bytes per block, byte offsets of the half-precision numbers of a block: random bits there
# would mostly be absurd scales.
FORMATS = (
    ("F32", 0, 1, 4, ()), ("F16", 1, 1, 2, ()), ("BF16", 30, 1, 2, ()), ("Q4_0", 2, 32, 18, (0,)),
    ("Q4_1", 3, 32, 20, (0, 2)), ("Q5_0", 6, 32, 22, (0,)), ("Q5_1", 7, 32, 24, (0, 2)), ("Q8_0", 8, 32, 34, (0,)),
    ("Q2_K", 10, 256, 84, (80, 82)), ("Q3_K", 11, 256, 110, (108,)), ("Q4_K", 12, 256, 144, (0, 2)),
    ("Q5_K", 13, 256, 176, (0, 2)), ("Q6_K", 14, 256, 210, (208,)), ("IQ4_NL", 20, 32, 18, (0,)),
    ("IQ4_XS", 23, 256, 136, (0,)), ("MXFP4", 39, 32, 17, ()), ("TQ1_0", 34, 256, 54, (52,)),
    ("TQ2_0", 35, 256, 66, (64,)), ("NVFP4", 40, 64, 36, ()), ("Q1_0", 41, 128, 18, (0,)), ("Q2_0", 42, 64, 18, (0,)),
    ("IQ1_S", 19, 256, 50, (0,)), ("IQ1_M", 29, 256, 56, ()), ("IQ2_XXS", 16, 256, 66, (0,)),
    ("IQ2_XS", 17, 256, 74, (0,)), ("IQ2_S", 22, 256, 82, (0,)), ("IQ3_XXS", 18, 256, 98, (0,)),
    ("IQ3_S", 21, 256, 110, (0,)),
)  # fmt: skip
SCALES = (0.013, -0.02, 0.0, 6.0e-8, -6.1e-5, 1.0, 300.0)
RANDOM_BLOCKS = 24
QUANTISED_BLOCKS = 8


class Llama:
    """llama.cpp's own (de)quantisers, built from its sources without its backends."""

    def __init__(self, root, folder):
        source = pathlib.Path(root) / "ggml"
        (folder / "ggml-version.h").write_text('#define GGML_VERSION ""\n#define GGML_COMMIT ""\n')
        library = folder / "quants.so"
        alone = folder / "alone.c"  # one thread needs no lock
        alone.write_text("void ggml_critical_section_start(void) {}\nvoid ggml_critical_section_end(void) {}\n")
        files = [str(alone)] + [str(source / "src" / name) for name in ("ggml-quants.c", "ggml.c")]
        flags = ["-O2", "-w", "-shared", "-fPIC", f"-I{folder}", f"-I{source / 'include'}", f"-I{source / 'src'}"]
        subprocess.run(["cc", *flags, *files, "-o", str(library), "-lm"], check=True)
        self.library = ctypes.CDLL(str(library), mode=1)  # lazy: what belongs to backends stays unbound
        self.library.ggml_quantize_chunk.restype = ctypes.c_size_t

    def dequantize(self, name, blocks, count):
        values = np.zeros(count, dtype=np.float32)
        call = getattr(self.library, "dequantize_row_" + name.lower().replace("_k", "_K"), None)
        if call is None:
            return None
        call(blocks.ctypes.data_as(ctypes.c_void_p), values.ctypes.data_as(ctypes.c_void_p), ctypes.c_int64(count))
        return values

    def quantize(self, type_id, size, real):
        rows, columns = real.shape
        blocks = np.zeros((rows, size), dtype=np.uint8)
        importance = np.ones(columns, dtype=np.float32)
        pointer = ctypes.c_void_p
        self.library.ggml_quantize_chunk(
            ctypes.c_int(type_id), real.ctypes.data_as(pointer), blocks.ctypes.data_as(pointer), ctypes.c_int64(0),
            ctypes.c_int64(rows), ctypes.c_int64(columns), importance.ctypes.data_as(pointer),
        )  # fmt: skip
        return blocks


def every_index(random, count, blocks, per_block):
    """Indices for `blocks` blocks in which each of `count` occurs, shuffled."""
    indices = np.concatenate((random.permutation(count), random.integers(0, count, blocks * per_block)))
    return indices[: blocks * per_block].reshape(blocks, per_block).astype(np.uint32)


def set_indices(random, name, blocks):
    """Codebook indices of the last blocks: every entry of the codebook."""
    entries = {"IQ1_S": 2048, "IQ1_M": 2048, "IQ2_XXS": 256, "IQ2_XS": 512, "IQ2_S": 1024, "IQ3_XXS": 256, "IQ3_S": 512}
    per_block = 64 if name.startswith("IQ3") else 32
    last = blocks[-(entries[name] // per_block) :]
    index = every_index(random, entries[name], len(last), per_block)
    low = (index & 255).astype(np.uint8)
    high = (index >> 8).astype(np.uint8)
    if name == "IQ1_S":
        last[:, 2:34] = low
        words = last[:, 34:50].copy().view("<u2").reshape(len(last), 8) & 0xF000
        for i in range(4):
            words |= (high.reshape(len(last), 8, 4)[:, :, i].astype(np.uint16) << (3 * i)).astype(np.uint16)
        last[:, 34:50] = words.view(np.uint8).reshape(len(last), 16)
    elif name == "IQ1_M":
        last[:, 0:32] = low
        last[:, 32:48] = (last[:, 32:48] & 0x88) | high[:, 0::2] | high[:, 1::2] << 4
    elif name == "IQ2_XXS":
        for run in range(8):
            last[:, 2 + 8 * run : 6 + 8 * run] = low[:, 4 * run : 4 * run + 4]
    elif name == "IQ2_XS":
        words = (last[:, 2:66].copy().view("<u2") & 0xFE00) | index.astype(np.uint16)
        last[:, 2:66] = words.view(np.uint8)
    elif name == "IQ2_S":
        last[:, 2:34] = low
        parts = high.reshape(len(last), 8, 4)
        last[:, 66:74] = parts[:, :, 0] | parts[:, :, 1] << 2 | parts[:, :, 2] << 4 | parts[:, :, 3] << 6
    elif name == "IQ3_XXS":
        last[:, 2:66] = low
    else:
        last[:, 2:66] = low
        last[:, 66:74] = np.packbits(high.reshape(len(last), 8, 8), axis=2, bitorder="little").reshape(len(last), 8)


def random_blocks(random, name, size, halves):
    count = {"IQ1_S": 72, "IQ1_M": 72, "IQ2_S": 40}.get(name, RANDOM_BLOCKS)
    blocks = random.integers(0, 256, (count, size), dtype=np.uint8)
    # The first blocks are all ones, all zeros and alternating bits.
    for index, byte in enumerate((0xFF, 0x00, 0xAA, 0x55, 0x80, 0x7F)):
        blocks[index, :] = byte
    scales = np.array([SCALES[i % len(SCALES)] * (1 + i / 50) for i in range(count)], dtype=np.float16)
    for offset in halves:
        blocks[:, offset : offset + 2] = scales.view(np.uint8).reshape(count, 2)
    if name == "MXFP4":
        blocks[:, 0] = random.integers(110, 140, count)
        blocks[:2, 0] = (0, 1)
    if name == "NVFP4":
        # Every code of a scale, the subnormal ones, zero, the one that stands for zero, and the unused sign bit.
        blocks[6:22, :4] = np.arange(0, 64).reshape(16, 4)
        blocks[22:, :4] = np.array((0x40, 0x60, 0x7E, 0x7F, 0x80, 0x87, 0xFE, 0xFF), dtype=np.uint8).reshape(2, 4)
    if name == "IQ1_M":
        bits = scales.view(np.uint16)
        for i in range(4):
            blocks[:, 49 + 2 * i] = (blocks[:, 49 + 2 * i] & 15) | (bits >> 4 * i & 15).astype(np.uint8) << 4
    if name.startswith(("IQ1", "IQ2", "IQ3")):
        set_indices(random, name, blocks)
    return blocks


def blocks_of(random, llama, name, type_id, elements, size, halves):
    if elements == 1:
        values = np.concatenate((random.normal(0, 0.05, 250), (0.0, -0.0, 1.0, -1.0, 65504.0, 6e-8))).astype(np.float32)
        return np.ascontiguousarray(quantize(values, gguf.GGMLQuantizationType(type_id))).view(np.uint8)
    blocks = [random_blocks(random, name, size, halves)]
    real = random.normal(0, 0.05, (QUANTISED_BLOCKS, elements)).astype(np.float32)
    try:
        quantised = quantize(real, gguf.GGMLQuantizationType(type_id)).reshape(QUANTISED_BLOCKS, size)
    except (NotImplementedError, ValueError):
        quantised = llama.quantize(type_id, size, real)
        print(f"{name}: real weights quantised by llama.cpp", file=sys.stderr)
    return np.concatenate((*blocks, quantised)).reshape(-1)


def values_of(llama, name, type_id, blocks, count):
    theirs = llama.dequantize(name, blocks, count)
    try:
        values = np.ascontiguousarray(dequantize(blocks, gguf.GGMLQuantizationType(type_id)), dtype="<f4").reshape(-1)
    except (NotImplementedError, ValueError):
        print(f"{name}: values of llama.cpp; gguf has no dequantiser", file=sys.stderr)
        return theirs
    if theirs is None:
        print(f"{name}: values of gguf; llama.cpp has no row dequantiser of that name", file=sys.stderr)
    elif np.array_equal(values, theirs):
        print(f"{name}: gguf and llama.cpp agree on all {count}", file=sys.stderr)
    else:
        error = np.max(np.abs(values - theirs) / np.maximum(np.abs(theirs), 1e-30))
        print(f"{name}: gguf and llama.cpp differ by up to {error:.1e} of a value", file=sys.stderr)
    return values


def main():
    random = np.random.default_rng(20260)
    out = bytearray(b"HGBLOCK1")
    with tempfile.TemporaryDirectory() as folder:
        llama = Llama(sys.argv[1], pathlib.Path(folder))
        for name, type_id, elements, size, halves in FORMATS:
            blocks = blocks_of(random, llama, name, type_id, elements, size, halves)
            values = values_of(llama, name, type_id, blocks, blocks.size // size * elements)
            if not np.all(np.isfinite(values)):
                raise SystemExit(f"{name}: a golden value is not finite")
            out += struct.pack("<8sII", name.lower().encode(), values.size, blocks.size)
            out += blocks.tobytes() + values.astype("<f4").tobytes()
    path = pathlib.Path(__file__).parent.parent / "fixtures" / "block" / "golden.bin.gz"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(gzip.compress(bytes(out), 9, mtime=0))
    print(f"{path}: {len(out)} bytes, gguf {getattr(gguf, '__version__', 'of this environment')}")


if __name__ == "__main__":
    main()
