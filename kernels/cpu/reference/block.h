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

template <typename Block>
void decode_blocks(const void* gguf, float* out, int64_t count) {
  const uint8_t* block = static_cast<const uint8_t*>(gguf);
  for (int64_t i = 0; i < count; i += Block::elements, block += Block::bytes) Block::decode(block, out + i);
}

}  // namespace
}  // namespace halogen::kernel::reference
