#!/usr/bin/env python3
"""Writes test/fixtures/block/golden.bin: random and adversarial GGUF blocks with the floats that `gguf` makes of them.

Needs `pip install gguf numpy`; the tests read the file and need no Python. Run: python test/oracle/make_block_golden.py
File: "HGBLOCK1", then per format: name char[8], elements uint32, bytes uint32, blocks, float[elements], little-endian.
"""

import pathlib
import struct
import sys

import gguf
import numpy as np
from gguf.quants import dequantize, quantize

FORMATS = ("F32", "F16", "BF16", "Q4_0", "Q4_1", "Q5_0", "Q5_1", "Q8_0", "Q2_K", "Q3_K", "Q4_K", "Q5_K", "Q6_K",
           "IQ4_NL", "IQ4_XS", "MXFP4", "TQ1_0", "TQ2_0")  # fmt: skip
# Byte offsets of the half-precision numbers of a block: random bits there would mostly be absurd scales.
HALVES = {"Q4_0": (0,), "Q4_1": (0, 2), "Q5_0": (0,), "Q5_1": (0, 2), "Q8_0": (0,), "Q2_K": (80, 82), "Q3_K": (108,),
          "Q4_K": (0, 2), "Q5_K": (0, 2), "Q6_K": (208,), "IQ4_NL": (0,), "IQ4_XS": (0,), "TQ1_0": (52,), "TQ2_0": (64,)}  # fmt: skip
SCALES = (0.013, -0.02, 0.0, 6.0e-8, -6.1e-5, 1.0, 300.0)
RANDOM_BLOCKS = 24
QUANTISED_BLOCKS = 8


def random_blocks(random, name, size):
    blocks = random.integers(0, 256, (RANDOM_BLOCKS, size), dtype=np.uint8)
    # The first blocks are all ones, all zeros and alternating bits.
    for index, byte in enumerate((0xFF, 0x00, 0xAA, 0x55, 0x80, 0x7F)):
        blocks[index, :] = byte
    for offset in HALVES.get(name, ()):
        scales = np.array([SCALES[i % len(SCALES)] * (1 + i / 50) for i in range(RANDOM_BLOCKS)], dtype=np.float16)
        blocks[:, offset : offset + 2] = scales.view(np.uint8).reshape(RANDOM_BLOCKS, 2)
    if name == "MXFP4":
        blocks[:, 0] = random.integers(110, 140, RANDOM_BLOCKS)
        blocks[:2, 0] = (0, 1)
    return blocks


def blocks_of(random, name):
    kind = gguf.GGMLQuantizationType[name]
    elements, size = gguf.GGML_QUANT_SIZES[kind]
    if elements == 1:
        values = np.concatenate((random.normal(0, 0.05, 250), (0.0, -0.0, 1.0, -1.0, 65504.0, 6e-8))).astype(np.float32)
        return kind, np.ascontiguousarray(quantize(values, kind)).view(np.uint8)
    blocks = [random_blocks(random, name, size)]
    try:
        real = random.normal(0, 0.05, (QUANTISED_BLOCKS, elements)).astype(np.float32)
        blocks.append(quantize(real, kind).reshape(QUANTISED_BLOCKS, size))
    except NotImplementedError:
        print(f"{name}: gguf cannot quantise it; random blocks only", file=sys.stderr)
    return kind, np.concatenate(blocks).reshape(-1)


def main():
    random = np.random.default_rng(20260)
    out = bytearray(b"HGBLOCK1")
    for name in FORMATS:
        kind, blocks = blocks_of(random, name)
        values = np.ascontiguousarray(dequantize(blocks, kind), dtype="<f4").reshape(-1)
        out += struct.pack("<8sII", name.lower().encode(), values.size, blocks.size)
        out += blocks.tobytes() + values.tobytes()
    path = pathlib.Path(__file__).parent.parent / "fixtures" / "block" / "golden.bin"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(out)
    print(f"{path}: {len(out)} bytes, gguf {getattr(gguf, '__version__', 'of this environment')}")


if __name__ == "__main__":
    main()
