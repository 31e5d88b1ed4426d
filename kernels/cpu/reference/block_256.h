// GGUF block formats of 256 elements, as block.h has those of 32: scales of smaller runs within a block.
#pragma once
#include "block.h"

namespace halogen::kernel::reference {
namespace {

// Scale and minimum of run `j` of 32, six bits each, from the 12 bytes that Q4_K and Q5_K have.
struct Six {
  int scale, minimum;
};
inline Six six_bits(const uint8_t* s, int j) {
  if (j < 4) return {s[j] & 63, s[j + 4] & 63};
  return {(s[j + 4] & 15) | (s[j - 4] >> 6) << 4, s[j + 4] >> 4 | (s[j] >> 6) << 4};
}

// 16 bytes of nibbles: scale, minimum of each 16; 64 bytes of 2-bit codes; half d; half dmin
struct Q2K {
  static constexpr int64_t elements = 256, bytes = 84;
  static void decode(const uint8_t* block, float* out) {
    const float d = float_from_half(load<uint16_t>(block + 80));
    const float dmin = float_from_half(load<uint16_t>(block + 82));
    for (int e = 0; e < 256; ++e) {
      const int code = block[16 + 32 * (e / 128) + e % 32] >> 2 * (e % 128 / 32) & 3;
      const int both = block[e / 16];
      out[e] = d * static_cast<float>(both & 15) * static_cast<float>(code) - dmin * static_cast<float>(both >> 4);
    }
  }
};

// 32 bytes of third bits; 64 bytes of 2-bit codes; 12 bytes of scales, six bits per 16; half d
struct Q3K {
  static constexpr int64_t elements = 256, bytes = 110;
  static void decode(const uint8_t* block, float* out) {
    const float d = float_from_half(load<uint16_t>(block + 108));
    const uint8_t* scales = block + 96;
    for (int e = 0; e < 256; ++e) {
      const int k = e / 16;
      const int low = k < 8 ? scales[k] & 15 : scales[k - 8] >> 4;
      const int scale = (low | (scales[8 + k % 4] >> 2 * (k / 4) & 3) << 4) - 32;
      const int code = block[32 + 32 * (e / 128) + e % 32] >> 2 * (e % 128 / 32) & 3;
      const int third = block[e % 32] >> e / 32 & 1;
      out[e] = d * static_cast<float>(scale) * static_cast<float>(third != 0 ? code : code - 4);
    }
  }
};

// half d; half dmin; 12 bytes of scales and minima; 128 bytes: each 32 hold the low nibbles of 32 elements, then the
// high
struct Q4K {
  static constexpr int64_t elements = 256, bytes = 144;
  static void decode(const uint8_t* block, float* out) {
    const float d = float_from_half(load<uint16_t>(block));
    const float dmin = float_from_half(load<uint16_t>(block + 2));
    for (int e = 0; e < 256; ++e) {
      const Six six = six_bits(block + 4, e / 32);
      const int code = block[16 + 32 * (e / 64) + e % 32] >> (e % 64 < 32 ? 0 : 4) & 15;
      out[e] = d * static_cast<float>(six.scale) * static_cast<float>(code) - dmin * static_cast<float>(six.minimum);
    }
  }
};

// As Q4_K, with 32 bytes of fifth bits before the nibbles
struct Q5K {
  static constexpr int64_t elements = 256, bytes = 176;
  static void decode(const uint8_t* block, float* out) {
    const float d = float_from_half(load<uint16_t>(block));
    const float dmin = float_from_half(load<uint16_t>(block + 2));
    for (int e = 0; e < 256; ++e) {
      const Six six = six_bits(block + 4, e / 32);
      const int low = block[48 + 32 * (e / 64) + e % 32] >> (e % 64 < 32 ? 0 : 4) & 15;
      const int code = low | (block[16 + e % 32] >> e / 32 & 1) << 4;
      out[e] = d * static_cast<float>(six.scale) * static_cast<float>(code) - dmin * static_cast<float>(six.minimum);
    }
  }
};

// 128 bytes of low nibbles; 64 bytes of upper two bits; 16 int8 scales; half d
struct Q6K {
  static constexpr int64_t elements = 256, bytes = 210;
  static void decode(const uint8_t* block, float* out) {
    const float d = float_from_half(load<uint16_t>(block + 208));
    for (int e = 0; e < 256; ++e) {
      const int half = e / 128, quarter = e % 128 / 32, l = e % 32;
      const int low = block[64 * half + l + 32 * (quarter & 1)] >> (quarter < 2 ? 0 : 4) & 15;
      const int high = block[128 + 32 * half + l] >> 2 * quarter & 3;
      const int scale = static_cast<int8_t>(block[192 + e / 16]);
      out[e] = d * static_cast<float>(scale) * static_cast<float>((low | high << 4) - 32);
    }
  }
};

// half d; 16 bits and 4 bytes of scales, six bits per 32; 128 bytes: nibbles of each 32 as IQ4_NL
struct Iq4Xs {
  static constexpr int64_t elements = 256, bytes = 136;
  static void decode(const uint8_t* block, float* out) {
    const float d = float_from_half(load<uint16_t>(block));
    const int upper = load<uint16_t>(block + 2);
    for (int e = 0; e < 256; ++e) {
      const int run = e / 32;
      const int scale = (block[4 + run / 2] >> 4 * (run % 2) & 15) | (upper >> 2 * run & 3) << 4;
      const int code = block[8 + 16 * run + e % 16] >> (e % 32 < 16 ? 0 : 4) & 15;
      out[e] = d * static_cast<float>(scale - 32) * static_cast<float>(iq4_values[code]);
    }
  }
};

// Ternary, five to a byte: 32 bytes hold 160 elements, 16 the next 80, 4 bytes the last 16, four to each; half d
struct Tq1_0 {
  static constexpr int64_t elements = 256, bytes = 54;
  static void decode(const uint8_t* block, float* out) {
    constexpr int powers[5] = {1, 3, 9, 27, 81};
    const float d = float_from_half(load<uint16_t>(block + 52));
    for (int e = 0; e < 256; ++e) {
      const bool first = e < 160, last = e >= 240;
      const int within = first ? e : last ? e - 240 : e - 160;
      const int width = first ? 32 : last ? 4 : 16;
      const int byte = (first ? 0 : last ? 48 : 32) + within % width;
      const int fraction = block[byte] * powers[within / width] & 255;
      out[e] = d * static_cast<float>((fraction * 3 >> 8) - 1);
    }
  }
};

// 64 bytes of ternary codes, two bits each; half d
struct Tq2_0 {
  static constexpr int64_t elements = 256, bytes = 66;
  static void decode(const uint8_t* block, float* out) {
    const float d = float_from_half(load<uint16_t>(block + 64));
    for (int e = 0; e < 256; ++e) {
      const int code = block[32 * (e / 128) + e % 32] >> 2 * (e % 128 / 32) & 3;
      out[e] = d * static_cast<float>(code - 1);
    }
  }
};

}  // namespace
}  // namespace halogen::kernel::reference
