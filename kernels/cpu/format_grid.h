// The IQ1, IQ2 and IQ3 families: weights looked up in a codebook by eights or fours. Packing looks them up, and leaves
// for each weight the index of its signed value, three or four bits: the product then needs one shuffle, no gather.
#pragma once
#include "kernels/cpu/format_256.h"
#include "kernels/cpu/grid.h"

namespace halogen::kernel {

// Values with a minus sign follow those without; all plus 2^kOffset.
struct TableIQ2 {
  static constexpr uint8_t kValues[16] = {72, 89, 107, 0, 56, 39, 21, 0, 0, 0, 0, 0, 0, 0, 0, 0};
};
struct TableIQ3XXS {
  static constexpr uint8_t kValues[16] = {68, 76, 84, 92, 100, 108, 116, 126, 60, 52, 44, 36, 28, 20, 12, 2};
};
struct TableIQ3S {
  static constexpr uint8_t kValues[16] = {17, 19, 21, 23, 25, 27, 29, 31, 15, 13, 11, 9, 7, 5, 3, 1};
};
// Eighths: -1, 0, 1 with an eighth added, then with an eighth taken away.
struct TableIQ1 {
  static constexpr uint8_t kValues[16] = {9, 17, 25, 0, 7, 15, 23, 0, 0, 0, 0, 0, 0, 0, 0, 0};
};

// Codes of eight weights of two bits each in `entry`, whose upper bit comes from `signs`.
HALOGEN_INLINE void unpack_eight(uint16_t entry, uint32_t signs, uint8_t* codes) {
  for (int i = 0; i < 8; ++i) codes[i] = static_cast<uint8_t>((entry >> 2 * i & 3) | (signs >> i & 1) << 2);
}

HALOGEN_INLINE void unpack_four(uint16_t entry, uint32_t signs, uint8_t* codes) {
  for (int i = 0; i < 4; ++i) codes[i] = static_cast<uint8_t>((entry >> 3 * i & 7) | (signs >> i & 1) << 3);
}

// Seven stored signs; the eighth makes the number of minus signs even.
HALOGEN_INLINE uint32_t even_signs(uint32_t seven) {
  uint32_t odd = seven ^ seven >> 4;
  odd ^= odd >> 2;
  return (seven & 127) | ((odd ^ odd >> 1) & 1) << 7;
}

struct FormatIQ2XXS : SignedFormat<FormatIQ2XXS, TableCodes<ThreeBitCodes, TableIQ2>, 1, 66, 6> {
  HALOGEN_INLINE static void unpack(const uint8_t* from, int i, uint8_t* codes) {
    const uint8_t* run = from + 2 + 8 * i;
    const uint32_t word = unaligned<uint32_t>(run + 4);
    for (int k = 0; k < 4; ++k) unpack_eight(iq2_xxs_grid[run[k]], even_signs(word >> 7 * k & 127), codes + 8 * k);
  }
  HALOGEN_INLINE static float factor(const uint8_t* from) { return half_value(unaligned<uint16_t>(from)) / 8; }
  HALOGEN_INLINE static int scale(const uint8_t* from, int i, int) {
    return static_cast<int>(2 * (unaligned<uint32_t>(from + 6 + 8 * i) >> 28) + 1);
  }
};

struct FormatIQ2XS : SignedFormat<FormatIQ2XS, TableCodes<ThreeBitCodes, TableIQ2>, 2, 74, 6> {
  HALOGEN_INLINE static void unpack(const uint8_t* from, int i, uint8_t* codes) {
    for (int k = 0; k < 4; ++k) {
      const uint32_t word = unaligned<uint16_t>(from + 2 + 8 * i + 2 * k);
      unpack_eight(iq2_xs_grid[word & 511], even_signs(word >> 9), codes + 8 * k);
    }
  }
  HALOGEN_INLINE static float factor(const uint8_t* from) { return half_value(unaligned<uint16_t>(from)) / 8; }
  HALOGEN_INLINE static int scale(const uint8_t* from, int i, int run) {
    return 2 * (from[66 + i] >> 4 * run & 15) + 1;
  }
};

struct FormatIQ2S : SignedFormat<FormatIQ2S, TableCodes<ThreeBitCodes, TableIQ2>, 2, 82, 6> {
  HALOGEN_INLINE static void unpack(const uint8_t* from, int i, uint8_t* codes) {
    for (int k = 0; k < 4; ++k) {
      const int index = from[2 + 4 * i + k] | (from[66 + i] >> 2 * k & 3) << 8;
      unpack_eight(iq2_s_grid[index], from[34 + 4 * i + k], codes + 8 * k);
    }
  }
  HALOGEN_INLINE static float factor(const uint8_t* from) { return half_value(unaligned<uint16_t>(from)) / 8; }
  HALOGEN_INLINE static int scale(const uint8_t* from, int i, int run) {
    return 2 * (from[74 + i] >> 4 * run & 15) + 1;
  }
};

struct FormatIQ3XXS : SignedFormat<FormatIQ3XXS, TableCodes<NibbleCodes, TableIQ3XXS>, 1, 98, 6> {
  HALOGEN_INLINE static void unpack(const uint8_t* from, int i, uint8_t* codes) {
    const uint32_t word = unaligned<uint32_t>(from + 66 + 4 * i);
    for (int k = 0; k < 8; ++k) {
      const uint32_t signs = even_signs(word >> k / 2 * 7 & 127) >> k % 2 * 4;
      unpack_four(iq3_xxs_grid[from[2 + 8 * i + k]], signs, codes + 4 * k);
    }
  }
  HALOGEN_INLINE static float factor(const uint8_t* from) { return half_value(unaligned<uint16_t>(from)) / 4; }
  HALOGEN_INLINE static int scale(const uint8_t* from, int i, int) {
    return static_cast<int>(2 * (unaligned<uint32_t>(from + 66 + 4 * i) >> 28) + 1);
  }
};

struct FormatIQ3S : SignedFormat<FormatIQ3S, TableCodes<NibbleCodes, TableIQ3S>, 1, 110, 4> {
  HALOGEN_INLINE static void unpack(const uint8_t* from, int i, uint8_t* codes) {
    for (int k = 0; k < 8; ++k) {
      const int index = from[2 + 8 * i + k] | (from[66 + i] >> k & 1) << 8;
      unpack_four(iq3_s_grid[index], from[74 + 4 * i + k / 2] >> k % 2 * 4, codes + 4 * k);
    }
  }
  HALOGEN_INLINE static float factor(const uint8_t* from) { return half_value(unaligned<uint16_t>(from)); }
  HALOGEN_INLINE static int scale(const uint8_t* from, int i, int) {
    return 2 * (from[106 + i / 2] >> i % 2 * 4 & 15) + 1;
  }
};

struct FormatIQ1S : SignedFormat<FormatIQ1S, TableCodes<ThreeBitCodes, TableIQ1>, 1, 50, 4> {
  HALOGEN_INLINE static void unpack(const uint8_t* from, int i, uint8_t* codes) {
    const int word = unaligned<uint16_t>(from + 34 + 2 * i);
    for (int k = 0; k < 4; ++k) {
      unpack_eight(iq1_grid[from[2 + 4 * i + k] | (word >> 3 * k & 7) << 8], word >> 15 != 0 ? 255 : 0, codes + 8 * k);
    }
  }
  HALOGEN_INLINE static float factor(const uint8_t* from) { return half_value(unaligned<uint16_t>(from)) / 8; }
  HALOGEN_INLINE static int scale(const uint8_t* from, int i, int) {
    return 2 * (unaligned<uint16_t>(from + 34 + 2 * i) >> 12 & 7) + 1;
  }
};

struct FormatIQ1M : SignedFormat<FormatIQ1M, TableCodes<ThreeBitCodes, TableIQ1>, 2, 56, 4> {
  HALOGEN_INLINE static void unpack(const uint8_t* from, int i, uint8_t* codes) {
    for (int k = 0; k < 4; ++k) {
      const int upper = from[32 + 2 * i + k / 2] >> k % 2 * 4 & 15;
      unpack_eight(iq1_grid[from[4 * i + k] | (upper & 7) << 8], upper >= 8 ? 255 : 0, codes + 8 * k);
    }
  }
  HALOGEN_INLINE static float factor(const uint8_t* from) {
    int half = 0;
    for (int k = 0; k < 4; ++k) half |= unaligned<uint16_t>(from + 48 + 2 * k) >> 12 << 4 * k;
    return half_value(static_cast<uint16_t>(half)) / 8;
  }
  HALOGEN_INLINE static int scale(const uint8_t* from, int i, int run) {
    const int k = 2 * i + run;
    return 2 * (unaligned<uint16_t>(from + 48 + k / 4 * 2) >> k % 4 * 3 & 7) + 1;
  }
};

}  // namespace halogen::kernel
