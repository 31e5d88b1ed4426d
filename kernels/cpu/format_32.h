// Formats with blocks of 32 weights. kOffset: the codes are unsigned with 2^kOffset for zero; below zero: none, a
// minimum does it. unpack() gives the codes of the i-th 32 of a block of the file, pack_scales() puts its scales.
#pragma once
#include "kernels/cpu/code.h"
#include "kernels/cpu/scale.h"

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

struct FormatQ4_0 {
  using Codes = NibbleCodes;
  using Scales = HalfScales<2>;
  static constexpr int64_t kElements = 32, kBytes = 18;
  static constexpr int kOffset = 3;
  HALOGEN_INLINE static void unpack(const uint8_t* from, int, uint8_t* codes) { unpack_nibbles(from + 2, codes); }
  template <int L>
  HALOGEN_INLINE static void pack_scales(const uint8_t* from, int, uint8_t* head, int64_t block, int64_t row) {
    Scales::put_scale<L>(head, block, row, unaligned<uint16_t>(from));
  }
};

struct FormatQ4_1 {
  using Codes = NibbleCodes;
  using Scales = HalfMinimumScales;
  static constexpr int64_t kElements = 32, kBytes = 20;
  static constexpr int kOffset = -1;
  HALOGEN_INLINE static void unpack(const uint8_t* from, int, uint8_t* codes) { unpack_nibbles(from + 4, codes); }
  template <int L>
  HALOGEN_INLINE static void pack_scales(const uint8_t* from, int, uint8_t* head, int64_t, int64_t row) {
    Scales::put_scale<L>(head, row, unaligned<uint16_t>(from), unaligned<uint16_t>(from + 2));
  }
};

struct FormatQ5_0 {
  using Codes = FiveBitCodes;
  using Scales = HalfScales<2>;
  static constexpr int64_t kElements = 32, kBytes = 22;
  static constexpr int kOffset = 4;
  HALOGEN_INLINE static void unpack(const uint8_t* from, int, uint8_t* codes) {
    unpack_nibbles(from + 6, codes);
    unpack_fifth(unaligned<uint32_t>(from + 2), codes);
  }
  template <int L>
  HALOGEN_INLINE static void pack_scales(const uint8_t* from, int, uint8_t* head, int64_t block, int64_t row) {
    Scales::put_scale<L>(head, block, row, unaligned<uint16_t>(from));
  }
};

struct FormatQ5_1 {
  using Codes = FiveBitCodes;
  using Scales = HalfMinimumScales;
  static constexpr int64_t kElements = 32, kBytes = 24;
  static constexpr int kOffset = -1;
  HALOGEN_INLINE static void unpack(const uint8_t* from, int, uint8_t* codes) {
    unpack_nibbles(from + 8, codes);
    unpack_fifth(unaligned<uint32_t>(from + 4), codes);
  }
  template <int L>
  HALOGEN_INLINE static void pack_scales(const uint8_t* from, int, uint8_t* head, int64_t, int64_t row) {
    Scales::put_scale<L>(head, row, unaligned<uint16_t>(from), unaligned<uint16_t>(from + 2));
  }
};

struct FormatQ8_0 {
  using Codes = ByteCodes;
  using Scales = HalfScales<2>;
  static constexpr int64_t kElements = 32, kBytes = 34;
  static constexpr int kOffset = 7;
  HALOGEN_INLINE static void unpack(const uint8_t* from, int, uint8_t* codes) {
    for (int i = 0; i < 32; ++i) codes[i] = from[2 + i] ^ 0x80;
  }
  template <int L>
  HALOGEN_INLINE static void pack_scales(const uint8_t* from, int, uint8_t* head, int64_t block, int64_t row) {
    Scales::put_scale<L>(head, block, row, unaligned<uint16_t>(from));
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

struct FormatIQ4NL {
  using Codes = TableCodes<NibbleCodes, TableIQ4>;
  using Scales = HalfScales<2>;
  static constexpr int64_t kElements = 32, kBytes = 18;
  static constexpr int kOffset = 7;
  HALOGEN_INLINE static void unpack(const uint8_t* from, int, uint8_t* codes) { unpack_nibbles(from + 2, codes); }
  template <int L>
  HALOGEN_INLINE static void pack_scales(const uint8_t* from, int, uint8_t* head, int64_t block, int64_t row) {
    Scales::put_scale<L>(head, block, row, unaligned<uint16_t>(from));
  }
};

struct FormatMXFP4 {
  using Codes = TableCodes<NibbleCodes, TableFloat4>;
  using Scales = PowerScales;
  static constexpr int64_t kElements = 32, kBytes = 17;
  static constexpr int kOffset = 4;
  HALOGEN_INLINE static void unpack(const uint8_t* from, int, uint8_t* codes) { unpack_nibbles(from + 1, codes); }
  template <int L>
  HALOGEN_INLINE static void pack_scales(const uint8_t* from, int, uint8_t* head, int64_t block, int64_t row) {
    Scales::put_scale<L>(head, block, row, from[0]);
  }
};

}  // namespace halogen::kernel
