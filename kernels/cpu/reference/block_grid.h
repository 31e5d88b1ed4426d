// GGUF block formats whose weights are looked up in a codebook, eight or four at a time: the IQ1, IQ2 and IQ3 families.
#pragma once
#include "block_256.h"
#include "kernels/cpu/grid.h"

namespace halogen::kernel::reference {
namespace {

// Weight i of a codebook entry of eight and of four.
template <size_t count>
int of_eight(const int8_t (&values)[count], uint16_t entry, int i) {
  return values[entry >> 2 * i & 3];
}
template <size_t count>
int of_four(const int8_t (&values)[count], uint16_t entry, int i) {
  return values[entry >> 3 * i & 7];
}

// Seven stored bits are the signs of seven weights; the eighth makes the number of minus signs even.
inline int signed_of_seven(uint32_t bits, int i, int value) {
  const uint32_t odd = bits ^ bits >> 1 ^ bits >> 2 ^ bits >> 3 ^ bits >> 4 ^ bits >> 5 ^ bits >> 6;
  const bool minus = i == 7 ? (odd & 1) != 0 : (bits >> i & 1) != 0;
  return minus ? -value : value;
}

inline int signed_of_eight(uint8_t bits, int i, int value) {
  return (bits >> i & 1) != 0 ? -value : value;
}

// half d; for each 32 four indices of eight weights, then a word: four times seven signs, and a scale in the upper bits
struct Iq2Xxs {
  static constexpr int64_t elements = 256, bytes = 66;
  static void decode(const uint8_t* block, float* out) {
    const float d = float_from_half(load<uint16_t>(block));
    for (int e = 0; e < 256; ++e) {
      const uint8_t* run = block + 2 + 8 * (e / 32);
      const uint32_t word = load<uint32_t>(run + 4);
      const int value = of_eight(iq2_xxs_grid_values, iq2_xxs_grid[run[e % 32 / 8]], e % 8);
      const float scale = d * (0.5f + static_cast<float>(word >> 28)) * 0.25f;
      out[e] = scale * static_cast<float>(signed_of_seven(word >> 7 * (e % 32 / 8) & 127, e % 8, value));
    }
  }
};

// half d; 32 words for eight weights each, index of nine bits and seven signs; 8 bytes of scales, a nibble per 16
struct Iq2Xs {
  static constexpr int64_t elements = 256, bytes = 74;
  static void decode(const uint8_t* block, float* out) {
    const float d = float_from_half(load<uint16_t>(block));
    for (int e = 0; e < 256; ++e) {
      const uint16_t word = load<uint16_t>(block + 2 + 2 * (e / 8));
      const int nibble = block[66 + e / 32] >> (e % 32 < 16 ? 0 : 4) & 15;
      const int value = of_eight(iq2_xs_grid_values, iq2_xs_grid[word & 511], e % 8);
      const float scale = d * (0.5f + static_cast<float>(nibble)) * 0.25f;
      out[e] = scale * static_cast<float>(signed_of_seven(word >> 9, e % 8, value));
    }
  }
};

// half d; 32 low bytes of indices; 32 bytes of signs; 8 bytes with the upper two bits of four indices; scales as IQ2_XS
struct Iq2S {
  static constexpr int64_t elements = 256, bytes = 82;
  static void decode(const uint8_t* block, float* out) {
    const float d = float_from_half(load<uint16_t>(block));
    for (int e = 0; e < 256; ++e) {
      const int index = block[2 + e / 8] | (block[66 + e / 32] >> 2 * (e % 32 / 8) & 3) << 8;
      const int nibble = block[74 + e / 32] >> (e % 32 < 16 ? 0 : 4) & 15;
      const int value = of_eight(iq2_s_grid_values, iq2_s_grid[index], e % 8);
      const float scale = d * (0.5f + static_cast<float>(nibble)) * 0.25f;
      out[e] = scale * static_cast<float>(signed_of_eight(block[34 + e / 8], e % 8, value));
    }
  }
};

// half d; 64 indices of four weights; a word for each 32 as IQ2_XXS has it
struct Iq3Xxs {
  static constexpr int64_t elements = 256, bytes = 98;
  static void decode(const uint8_t* block, float* out) {
    const float d = float_from_half(load<uint16_t>(block));
    for (int e = 0; e < 256; ++e) {
      const uint32_t word = load<uint32_t>(block + 66 + 4 * (e / 32));
      const int value = of_four(iq3_xxs_grid_values, iq3_xxs_grid[block[2 + e / 4]], e % 4);
      const float scale = d * (0.5f + static_cast<float>(word >> 28)) * 0.5f;
      out[e] = scale * static_cast<float>(signed_of_seven(word >> 7 * (e % 32 / 8) & 127, e % 8, value));
    }
  }
};

// half d; 64 low bytes of indices; 8 bytes of their ninth bits; 32 bytes of signs; 4 bytes of scales, a nibble per 32
struct Iq3S {
  static constexpr int64_t elements = 256, bytes = 110;
  static void decode(const uint8_t* block, float* out) {
    const float d = float_from_half(load<uint16_t>(block));
    for (int e = 0; e < 256; ++e) {
      const int index = block[2 + e / 4] | (block[66 + e / 32] >> e % 32 / 4 & 1) << 8;
      const int nibble = block[106 + e / 64] >> (e % 64 < 32 ? 0 : 4) & 15;
      const int value = of_four(iq3_s_grid_values, iq3_s_grid[index], e % 4);
      out[e] =
          d * static_cast<float>(1 + 2 * nibble) * static_cast<float>(signed_of_eight(block[74 + e / 8], e % 8, value));
    }
  }
};

// half d; 32 low bytes of indices; a word for each 32: four times three upper bits, a scale, and whether the eighth
// that is added to every weight is taken away instead
struct Iq1S {
  static constexpr int64_t elements = 256, bytes = 50;
  static void decode(const uint8_t* block, float* out) {
    const float d = float_from_half(load<uint16_t>(block));
    for (int e = 0; e < 256; ++e) {
      const int word = load<uint16_t>(block + 34 + 2 * (e / 32));
      const int index = block[2 + e / 8] | (word >> 3 * (e % 32 / 8) & 7) << 8;
      const float value = static_cast<float>(of_eight(iq1_grid_values, iq1_grid[index], e % 8));
      out[e] = d * static_cast<float>(2 * (word >> 12 & 7) + 1) * (value + ((word & 0x8000) != 0 ? -0.125f : 0.125f));
    }
  }
};

// 32 low bytes of indices; 16 bytes, a nibble per index: three upper bits and the eighth's sign; four words with four
// scales of three bits for 16 weights each, whose upper nibbles are together the half d
struct Iq1M {
  static constexpr int64_t elements = 256, bytes = 56;
  static void decode(const uint8_t* block, float* out) {
    int half = 0;
    for (int i = 0; i < 4; ++i) half |= load<uint16_t>(block + 48 + 2 * i) >> 12 << 4 * i;
    const float d = float_from_half(static_cast<uint16_t>(half));
    for (int e = 0; e < 256; ++e) {
      const int upper = block[32 + e / 16] >> (e % 16 < 8 ? 0 : 4) & 15;
      const int scale = load<uint16_t>(block + 48 + 2 * (e / 64)) >> 3 * (e % 64 / 16) & 7;
      const int index = block[e / 8] | (upper & 7) << 8;
      const float value = static_cast<float>(of_eight(iq1_grid_values, iq1_grid[index], e % 8));
      out[e] = d * static_cast<float>(2 * scale + 1) * (value + ((upper & 8) != 0 ? -0.125f : 0.125f));
    }
  }
};

}  // namespace
}  // namespace halogen::kernel::reference
