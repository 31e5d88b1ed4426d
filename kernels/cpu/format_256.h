// Formats with blocks of 256 weights.
#pragma once
#include "kernels/cpu/format_32.h"

namespace halogen::kernel {

// Nibbles of 64 weights in 32 bytes: the low ones are the first 32 weights, the high ones the others.
HALOGEN_INLINE void unpack_half_nibbles(const uint8_t* from, bool high, uint8_t* codes) {
  const int shift = high ? 4 : 0;
  for (int i = 0; i < 32; ++i) codes[i] = from[i] >> shift & 15;
}

// Two bits of each of 32 weights at bit `at`.
HALOGEN_INLINE void unpack_two_bits(const uint8_t* from, int at, uint8_t* codes) {
  for (int i = 0; i < 32; ++i) codes[i] = from[i] >> at & 3;
}

struct FormatQ4K : Format<NibbleCodes, SixBitScales, 256, 144, -1> {
  HALOGEN_INLINE static void unpack(const uint8_t* from, int i, uint8_t* codes) {
    unpack_half_nibbles(from + 16 + i / 2 * 32, i % 2 != 0, codes);
  }
  template <int L>
  HALOGEN_INLINE static void pack_scales(const uint8_t* from, int i, uint8_t* head, int64_t block, int64_t row) {
    if (i == 0) Scales::put_factors<L>(head, row, unaligned<uint16_t>(from), unaligned<uint16_t>(from + 2));
    Scales::put_scale<L>(head, block, row, from + 4);
  }
};

struct FormatQ5K : Format<FiveBitCodes, SixBitScales, 256, 176, -1> {
  HALOGEN_INLINE static void unpack(const uint8_t* from, int i, uint8_t* codes) {
    unpack_half_nibbles(from + 48 + i / 2 * 32, i % 2 != 0, codes);
    for (int e = 0; e < 32; ++e) codes[e] |= (from[16 + e] >> i & 1) << 4;
  }
  template <int L>
  HALOGEN_INLINE static void pack_scales(const uint8_t* from, int i, uint8_t* head, int64_t block, int64_t row) {
    FormatQ4K::pack_scales<L>(from, i, head, block, row);
  }
};

struct FormatQ6K : SignedFormat<FormatQ6K, SixBitCodes, 2, 210, 5> {
  HALOGEN_INLINE static void unpack(const uint8_t* from, int i, uint8_t* codes) {
    const int half = i / 4, quarter = i % 4;
    unpack_half_nibbles(from + 64 * half + 32 * (quarter & 1), quarter >= 2, codes);
    uint8_t upper[32];
    unpack_two_bits(from + 128 + 32 * half, 2 * quarter, upper);
    for (int e = 0; e < 32; ++e) codes[e] |= upper[e] << 4;
  }
  HALOGEN_INLINE static float factor(const uint8_t* from) { return half_value(unaligned<uint16_t>(from + 208)); }
  HALOGEN_INLINE static int scale(const uint8_t* from, int i, int run) {
    return static_cast<int8_t>(from[192 + 2 * i + run]);
  }
};

struct FormatQ2K : Format<TwoBitCodes, NibbleScales, 256, 84, -1> {
  HALOGEN_INLINE static void unpack(const uint8_t* from, int i, uint8_t* codes) {
    unpack_two_bits(from + 16 + i / 4 * 32, i % 4 * 2, codes);
  }
  template <int L>
  HALOGEN_INLINE static void pack_scales(const uint8_t* from, int i, uint8_t* head, int64_t block, int64_t row) {
    if (i == 0) Scales::put_factors<L>(head, row, unaligned<uint16_t>(from + 80), unaligned<uint16_t>(from + 82));
    for (int run = 0; run < 2; ++run) Scales::put_scale<L>(head, block, run, row, from[2 * i + run]);
  }
};

struct FormatQ3K : SignedFormat<FormatQ3K, ThreeBitCodes, 2, 110, 2> {
  HALOGEN_INLINE static void unpack(const uint8_t* from, int i, uint8_t* codes) {
    unpack_two_bits(from + 32 + i / 4 * 32, i % 4 * 2, codes);
    for (int e = 0; e < 32; ++e) codes[e] |= (from[e] >> i & 1) << 2;
  }
  HALOGEN_INLINE static float factor(const uint8_t* from) { return half_value(unaligned<uint16_t>(from + 108)); }
  HALOGEN_INLINE static int scale(const uint8_t* from, int i, int run) {
    const int k = 2 * i + run;
    const int low = k < 8 ? from[96 + k] & 15 : from[88 + k] >> 4;
    return (low | (from[104 + k % 4] >> k / 4 * 2 & 3) << 4) - 32;
  }
};

struct FormatIQ4XS : SignedFormat<FormatIQ4XS, TableCodes<NibbleCodes, TableIQ4>, 1, 136, 7> {
  HALOGEN_INLINE static void unpack(const uint8_t* from, int i, uint8_t* codes) {
    unpack_nibbles(from + 8 + 16 * i, codes);
  }
  HALOGEN_INLINE static float factor(const uint8_t* from) { return half_value(unaligned<uint16_t>(from)); }
  HALOGEN_INLINE static int scale(const uint8_t* from, int i, int) {
    const int low = from[4 + i / 2] >> i % 2 * 4 & 15, upper = unaligned<uint16_t>(from + 2) >> 2 * i & 3;
    return (low | upper << 4) - 32;
  }
};

}  // namespace halogen::kernel
