// GGUF block formats, one struct each: elements and bytes per block, and one block to floats. Sources: the GGUF
// specification. For kernel files: everything is internal, so that no instruction set leaks through the linker.
#pragma once
#include "half.h"

namespace halogen::kernel::reference {
namespace {

struct F32 {
  static constexpr int64_t elements = 1, bytes = 4;
  static void decode(const uint8_t* block, float* out) { out[0] = load<float>(block); }
};

struct F16 {
  static constexpr int64_t elements = 1, bytes = 2;
  static void decode(const uint8_t* block, float* out) { out[0] = float_from_half(load<uint16_t>(block)); }
};

struct Bf16 {
  static constexpr int64_t elements = 1, bytes = 2;
  static void decode(const uint8_t* block, float* out) { out[0] = float_from_bfloat16(load<uint16_t>(block)); }
};

// half d; int8 q[32]
struct Q8_0 {
  static constexpr int64_t elements = 32, bytes = 34;
  static void decode(const uint8_t* block, float* out) {
    const float d = float_from_half(load<uint16_t>(block));
    for (int i = 0; i < 32; ++i) out[i] = d * static_cast<float>(static_cast<int8_t>(block[2 + i]));
  }
};

// half d; 16 bytes: low nibble = element i, high = element i + 16; (q - 8) d
struct Q4_0 {
  static constexpr int64_t elements = 32, bytes = 18;
  static void decode(const uint8_t* block, float* out) {
    const float d = float_from_half(load<uint16_t>(block));
    for (int i = 0; i < 16; ++i) {
      out[i] = d * static_cast<float>((block[2 + i] & 15) - 8);
      out[i + 16] = d * static_cast<float>((block[2 + i] >> 4) - 8);
    }
  }
};

// half d; half m; 16 bytes of nibbles as Q4_0; q d + m
struct Q4_1 {
  static constexpr int64_t elements = 32, bytes = 20;
  static void decode(const uint8_t* block, float* out) {
    const float d = float_from_half(load<uint16_t>(block));
    const float m = float_from_half(load<uint16_t>(block + 2));
    for (int i = 0; i < 16; ++i) {
      out[i] = d * static_cast<float>(block[4 + i] & 15) + m;
      out[i + 16] = d * static_cast<float>(block[4 + i] >> 4) + m;
    }
  }
};

// half d; uint32 of fifth bits; 16 bytes of nibbles as Q4_0; (q - 16) d
struct Q5_0 {
  static constexpr int64_t elements = 32, bytes = 22;
  static void decode(const uint8_t* block, float* out) {
    const float d = float_from_half(load<uint16_t>(block));
    const uint32_t fifth = load<uint32_t>(block + 2);
    for (int i = 0; i < 16; ++i) {
      const int low = (block[6 + i] & 15) | static_cast<int>(fifth >> i & 1) << 4;
      const int high = block[6 + i] >> 4 | static_cast<int>(fifth >> (i + 16) & 1) << 4;
      out[i] = d * static_cast<float>(low - 16);
      out[i + 16] = d * static_cast<float>(high - 16);
    }
  }
};

// half d; half m; uint32 of fifth bits; 16 bytes of nibbles as Q4_0; q d + m
struct Q5_1 {
  static constexpr int64_t elements = 32, bytes = 24;
  static void decode(const uint8_t* block, float* out) {
    const float d = float_from_half(load<uint16_t>(block));
    const float m = float_from_half(load<uint16_t>(block + 2));
    const uint32_t fifth = load<uint32_t>(block + 4);
    for (int i = 0; i < 16; ++i) {
      const int low = (block[8 + i] & 15) | static_cast<int>(fifth >> i & 1) << 4;
      const int high = block[8 + i] >> 4 | static_cast<int>(fifth >> (i + 16) & 1) << 4;
      out[i] = d * static_cast<float>(low) + m;
      out[i + 16] = d * static_cast<float>(high) + m;
    }
  }
};

// The values of IQ4 codes.
constexpr int8_t iq4_values[16] = {-127, -104, -83, -65, -49, -35, -22, -10, 1, 13, 25, 38, 53, 69, 89, 113};

// half d; 16 bytes of nibbles as Q4_0; value of the code times d
struct Iq4Nl {
  static constexpr int64_t elements = 32, bytes = 18;
  static void decode(const uint8_t* block, float* out) {
    const float d = float_from_half(load<uint16_t>(block));
    for (int i = 0; i < 16; ++i) {
      out[i] = d * static_cast<float>(iq4_values[block[2 + i] & 15]);
      out[i + 16] = d * static_cast<float>(iq4_values[block[2 + i] >> 4]);
    }
  }
};

// A shared exponent e; 16 bytes of nibbles as Q4_0, each a float of four bits. Values are held doubled, so the scale
// is 2^(e - 128), which is subnormal for the first two.
struct Mxfp4 {
  static constexpr int64_t elements = 32, bytes = 17;
  static void decode(const uint8_t* block, float* out) {
    constexpr int8_t doubled[16] = {0, 1, 2, 3, 4, 6, 8, 12, 0, -1, -2, -3, -4, -6, -8, -12};
    const uint32_t e = block[0];
    const uint32_t bits = e < 2 ? 0x00200000u << e : (e - 1) << 23;
    float scale;
    std::memcpy(&scale, &bits, sizeof scale);
    for (int i = 0; i < 16; ++i) {
      out[i] = scale * static_cast<float>(doubled[block[1 + i] & 15]);
      out[i + 16] = scale * static_cast<float>(doubled[block[1 + i] >> 4]);
    }
  }
};

// Four scales, one per 16, each a float of four exponent and three fraction bits without a sign; 32 bytes of nibbles,
// eight for each 16, as floats of four bits held doubled, so the scale is halved. Scale 0x7f stands for zero.
struct Nvfp4 {
  static constexpr int64_t elements = 64, bytes = 36;
  static float half_scale(uint8_t code) {
    const int exponent = code >> 3 & 15;
    const float fraction = static_cast<float>(code & 7);
    if (code == 0x7f) return 0;
    if (exponent == 0) return fraction * 0x1p-10f;
    return (8 + fraction) * float_from_bits(static_cast<uint32_t>(exponent + 127 - 11) << 23);
  }
  static void decode(const uint8_t* block, float* out) {
    constexpr int8_t doubled[16] = {0, 1, 2, 3, 4, 6, 8, 12, 0, -1, -2, -3, -4, -6, -8, -12};
    for (int e = 0; e < 64; ++e) {
      const int code = block[4 + e / 16 * 8 + e % 8] >> (e % 16 < 8 ? 0 : 4) & 15;
      out[e] = half_scale(block[e / 16]) * static_cast<float>(doubled[code]);
    }
  }
};

// half d; 16 bytes, the lowest bit first: a set bit is d, a clear one -d
struct Q1_0 {
  static constexpr int64_t elements = 128, bytes = 18;
  static void decode(const uint8_t* block, float* out) {
    const float d = float_from_half(load<uint16_t>(block));
    for (int e = 0; e < 128; ++e) out[e] = (block[2 + e / 8] >> e % 8 & 1) != 0 ? d : -d;
  }
};

// half d; 16 bytes of 2-bit codes, the lowest first; (q - 1) d
struct Q2_0 {
  static constexpr int64_t elements = 64, bytes = 18;
  static void decode(const uint8_t* block, float* out) {
    const float d = float_from_half(load<uint16_t>(block));
    for (int e = 0; e < 64; ++e) out[e] = d * static_cast<float>((block[2 + e / 4] >> 2 * (e % 4) & 3) - 1);
  }
};

// half d; uint16 zero point z; four times 16 bytes of nibbles as Q4_0; (q - z) d. Not of GGUF: what AWQ and ParoQuant
// are read into.
struct Awq4 {
  static constexpr int64_t elements = 128, bytes = 68;
  static void decode(const uint8_t* block, float* out) {
    const float d = float_from_half(load<uint16_t>(block));
    const int zero = load<uint16_t>(block + 2);
    for (int e = 0; e < 128; ++e) {
      const int code = block[4 + 16 * (e / 32) + e % 16] >> (e % 32 < 16 ? 0 : 4) & 15;
      out[e] = d * static_cast<float>(code - zero);
    }
  }
};

template <typename Block>
void decode_blocks(const void* gguf, float* out, int64_t count) {
  const uint8_t* block = static_cast<const uint8_t*>(gguf);
  for (int64_t i = 0; i < count; i += Block::elements, block += Block::bytes) Block::decode(block, out + i);
}

}  // namespace
}  // namespace halogen::kernel::reference
