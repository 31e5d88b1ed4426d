// Formats of one, two and four bits per weight in blocks of 64, 128 and 256.
#pragma once
#include "kernels/cpu/format_256.h"

namespace halogen::kernel {

struct FormatNVFP4 : Format<TableCodes<NibbleCodes, TableFloat4>, SmallFloatScales, 64, 36, 4> {
  HALOGEN_INLINE static void unpack(const uint8_t* from, int i, uint8_t* codes) {
    for (int e = 0; e < 32; ++e) codes[e] = from[4 + 16 * i + e / 16 * 8 + e % 8] >> (e % 16 < 8 ? 0 : 4) & 15;
  }
  template <int L>
  HALOGEN_INLINE static void pack_scales(const uint8_t* from, int i, uint8_t* head, int64_t block, int64_t row) {
    for (int run = 0; run < 2; ++run) Scales::put_scale<L>(head, block, run, row, from[2 * i + run]);
  }
};

// AWQ's and ParoQuant's: a zero point besides the scale.
struct FormatAWQ4 : Format<NibbleCodes, ZeroPointScales, 128, 68, 3> {
  HALOGEN_INLINE static void unpack(const uint8_t* from, int i, uint8_t* codes) {
    unpack_nibbles(from + 4 + 16 * i, codes);
  }
  template <int L>
  HALOGEN_INLINE static void pack_scales(const uint8_t* from, int i, uint8_t* head, int64_t, int64_t row) {
    if (i == 0) Scales::put_scale<L>(head, row, unaligned<uint16_t>(from), unaligned<uint16_t>(from + 2));
  }
};

// A clear bit is -1, a set one 1: codes 0 and 2.
struct FormatQ1_0 : HalfFormat<OneBitCodes, HalfScales<8, 4>, 128, 18, 0> {
  HALOGEN_INLINE static void unpack(const uint8_t* from, int i, uint8_t* codes) {
    for (int e = 0; e < 32; ++e) codes[e] = (from[2 + 4 * i + e / 8] >> e % 8 & 1) << 1;
  }
};

struct FormatQ2_0 : HalfFormat<TwoBitCodes, HalfScales<4, 2>, 64, 18, 0> {
  HALOGEN_INLINE static void unpack(const uint8_t* from, int i, uint8_t* codes) {
    for (int e = 0; e < 32; ++e) codes[e] = from[2 + 8 * i + e / 4] >> e % 4 * 2 & 3;
  }
};

struct FormatTQ2_0 : HalfFormat<TwoBitCodes, HalfScales<16, 8>, 256, 66, 0, 64> {
  HALOGEN_INLINE static void unpack(const uint8_t* from, int i, uint8_t* codes) {
    unpack_two_bits(from + i / 4 * 32, i % 4 * 2, codes);
  }
};

struct FormatTQ1_0 : HalfFormat<TwoBitCodes, HalfScales<16, 8>, 256, 54, 0, 52> {
  // Five ternary digits to a byte: 32 bytes of the first 160 weights, 16 of the next 80, then 4 of four digits.
  HALOGEN_INLINE static void unpack(const uint8_t* from, int i, uint8_t* codes) {
    if (i < 5) {
      for (int e = 0; e < 32; ++e) codes[e] = digit(from[e], i);
      return;
    }
    for (int e = 0; e < 16; ++e) codes[e] = digit(from[32 + e], 2 * i - 10);
    for (int e = 0; e < 16; ++e) {
      codes[16 + e] = i < 7 ? digit(from[32 + e], 2 * i - 9) : digit(from[48 + e % 4], e / 4);
    }
  }

 private:
  HALOGEN_INLINE static uint8_t digit(uint8_t byte, int at) {
    constexpr int kPowers[5] = {1, 3, 9, 27, 81};
    return static_cast<uint8_t>((byte * kPowers[at] & 255) * 3 >> 8);
  }
};

}  // namespace halogen::kernel
