#!/usr/bin/env python3
"""Writes kernels/cpu/grid.h: the codebooks of IQ1, IQ2 and IQ3, packed, from the values in llama.cpp's ggml-common.h.

Run: python3 kernels/extract_grid.py <folder of llama.cpp>. Needs no packages. The tests hold the result against
llama.cpp's own dequantiser and `gguf`'s (test/oracle/make_block_golden.py): every entry occurs in the golden blocks.
"""

import pathlib
import re
import sys

# Table in ggml-common.h, name here, weights per entry, bytes per weight there, the values a weight takes.
TABLES = (
    ("iq2xxs_grid", "iq2_xxs_grid", 8, (8, 25, 43)),
    ("iq2xs_grid", "iq2_xs_grid", 8, (8, 25, 43)),
    ("iq2s_grid", "iq2_s_grid", 8, (8, 25, 43)),
    ("iq1s_grid", "iq1_grid", 8, (-1, 0, 1)),
    ("iq3xxs_grid", "iq3_xxs_grid", 4, (4, 12, 20, 28, 36, 44, 52, 62)),
    ("iq3s_grid", "iq3_s_grid", 4, (1, 3, 5, 7, 9, 11, 13, 15)),
)
HEAD = """// Codebooks of the IQ1, IQ2 and IQ3 formats: data of llama.cpp (ggml/src/ggml-common.h), Copyright (c) 2023-2026 The
// ggml authors, MIT licence. Written by kernels/extract_grid.py; edit that. Weight i of an entry is its bits from 2 i
// (8 weights: IQ1, IQ2) or 3 i (4 weights: IQ3), as an index into the values that stand beside its table.
#pragma once
#include <cstdint>

// clang-format off
namespace halogen::kernel {
namespace {

"""
TAIL = """}  // namespace
}  // namespace halogen::kernel
// clang-format on
"""


def entries(source, table, weights):
    found = re.search(rf"GGML_TABLE_BEGIN\(\w+, {table}, (\w+)\)(.*?)GGML_TABLE_END", source, re.S)
    if found is None:
        raise SystemExit(f"ggml-common.h has no {table}")
    numbers = [int(word, 16) for word in re.findall(r"0x[0-9a-fA-F]+", found.group(2))]
    return [[byte - 256 if byte > 127 else byte for byte in number.to_bytes(weights, "little")] for number in numbers]


def main():
    root = pathlib.Path(sys.argv[1])
    source = (root / "ggml" / "src" / "ggml-common.h").read_text()
    out = HEAD
    for table, name, weights, values in TABLES:
        bits = 2 if weights == 8 else 3
        packed = []
        for entry in entries(source, table, weights):
            packed.append(sum(values.index(value) << bits * i for i, value in enumerate(entry)))
        words = [str(number) for number in packed]
        out += f"[[maybe_unused]] constexpr int8_t {name}_values[] = {{{', '.join(map(str, values))}}};\n"
        out += f"[[maybe_unused]] constexpr uint16_t {name}[{len(packed)}] = {{\n"
        line = " "
        for word in words:
            if len(line) + len(word) + 2 > 120:
                out += line + "\n"
                line = " "
            line += f" {word},"
        out += line + "\n};\n\n"
    path = pathlib.Path(__file__).parent / "cpu" / "grid.h"
    path.write_text(out.rstrip("\n") + "\n\n" + TAIL)
    print(f"{path}: {len(out)} bytes")


if __name__ == "__main__":
    main()
