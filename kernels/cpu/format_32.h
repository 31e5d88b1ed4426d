// Formats with blocks of 32 weights.
#pragma once
#include "kernels/cpu/format.h"

namespace halogen::kernel {

HALOGEN_INLINE void unpack_nibbles(const uint8_t* from, uint8_t* codes) {
  for (int i = 0; i < 16; ++i) codes[i] = from[i] & 15;
  for (int i = 0; i < 16; ++i) codes[16 + i] = from[i] >> 4;
}

// Adds bit i of `bits`, as 16, to code i.
HALOGEN_INLINE void unpack_fifth(uint32_t bits, uint8_t* codes) {
  for (int g = 0; g < 8; ++g) {
    const uint32_t spread = (bits >> 4 * g & 15) * 0x00204081u & 0x01010101u;
    const uint32_t word = four_codes(codes, g) | spread << 4;
    std::memcpy(codes + 4 * g, &word, 4);
  }
}

struct FormatQ4_0 : HalfFormat<NibbleCodes, HalfScales<2>, 32, 18, 3> {
  HALOGEN_INLINE static void unpack(const uint8_t* from, int, uint8_t* codes) { unpack_nibbles(from + 2, codes); }
};

struct FormatQ4_1 : MinimumFormat<NibbleCodes, 20> {
  HALOGEN_INLINE static void unpack(const uint8_t* from, int, uint8_t* codes) { unpack_nibbles(from + 4, codes); }
};

struct FormatQ5_0 : HalfFormat<FiveBitCodes, HalfScales<2>, 32, 22, 4> {
  HALOGEN_INLINE static void unpack(const uint8_t* from, int, uint8_t* codes) {
    unpack_nibbles(from + 6, codes);
    unpack_fifth(unaligned<uint32_t>(from + 2), codes);
  }
};

struct FormatQ5_1 : MinimumFormat<FiveBitCodes, 24> {
  HALOGEN_INLINE static void unpack(const uint8_t* from, int, uint8_t* codes) {
    unpack_nibbles(from + 8, codes);
    unpack_fifth(unaligned<uint32_t>(from + 4), codes);
  }
};

struct FormatQ8_0 : HalfFormat<ByteCodes, HalfScales<2>, 32, 34, 7> {
  HALOGEN_INLINE static void unpack(const uint8_t* from, int, uint8_t* codes) {
    for (int i = 0; i < 32; ++i) codes[i] = from[2 + i] ^ 0x80;
  }
};

// The values of 4-bit codes, made unsigned by adding 128.
struct TableIQ4 {
  static constexpr uint8_t kValues[16] = {1, 24, 45, 63, 79, 93, 106, 118, 129, 141, 153, 166, 181, 197, 217, 241};
};

// Floats of four bits, doubled, plus 16.
struct TableFloat4 {
  static constexpr uint8_t kValues[16] = {16, 17, 18, 19, 20, 22, 24, 28, 16, 15, 14, 13, 12, 10, 8, 4};
};

struct FormatIQ4NL : HalfFormat<TableCodes<NibbleCodes, TableIQ4>, HalfScales<2>, 32, 18, 7> {
  HALOGEN_INLINE static void unpack(const uint8_t* from, int, uint8_t* codes) { unpack_nibbles(from + 2, codes); }
};

struct FormatMXFP4 : Format<TableCodes<NibbleCodes, TableFloat4>, PowerScales, 32, 17, 4> {
  HALOGEN_INLINE static void unpack(const uint8_t* from, int, uint8_t* codes) { unpack_nibbles(from + 1, codes); }
  template <int L>
  HALOGEN_INLINE static void pack_scales(const uint8_t* from, int, uint8_t* head, int64_t block, int64_t row) {
    Scales::put_scale<L>(head, block, row, from[0]);
  }
};

}  // namespace halogen::kernel
