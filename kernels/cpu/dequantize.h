// GGUF blocks to floats, written once over a variant's Vector. `count` is a multiple of the format's block.
#pragma once
#include "kernels/cpu/block.h"

namespace halogen::kernel {

template <class V>
struct Dequantizer {
  using Float = typename V::Float;
  static constexpr int64_t kLanes = V::kLanes;

  static void f32(const void* gguf, float* out, int64_t count) {
    std::memcpy(out, gguf, static_cast<size_t>(count) * 4);
  }

  static void f16(const void* gguf, float* out, int64_t count) {
    const auto* from = static_cast<const uint16_t*>(gguf);
    int64_t i = 0;
    for (; i + kLanes <= count; i += kLanes) V::store(out + i, V::load_half(from + i));
    if (i < count) V::store(out + i, V::load_half(from + i, count - i), count - i);
  }

  static void bf16(const void* gguf, float* out, int64_t count) {
    const auto* from = static_cast<const uint16_t*>(gguf);
    for (int64_t i = 0; i < count; ++i) {
      const uint32_t bits = static_cast<uint32_t>(from[i]) << 16;
      std::memcpy(out + i, &bits, 4);
    }
  }

  static void q8_0(const void* gguf, float* out, int64_t count) {
    const auto* block = static_cast<const uint8_t*>(gguf);
    for (int64_t i = 0; i < count; i += kBlock, block += kBytesQ8_0) {
      const Float scale = broadcast_half(block);
      for (int64_t k = 0; k < kBlock; k += kLanes) {
        V::store(out + i + k, V::multiply(V::load_signed_bytes(block + 2 + k), scale));
      }
    }
  }

  static void q4_0(const void* gguf, float* out, int64_t count) {
    const auto* block = static_cast<const uint8_t*>(gguf);
    for (int64_t i = 0; i < count; i += kBlock, block += kBytesQ4_0) {
      const Float scale = broadcast_half(block);
      const Float eight = V::set(8.0f);
      nibbles(block + 2, out + i, [&](Float code) { return V::multiply(V::subtract(code, eight), scale); });
    }
  }

  static void q4_1(const void* gguf, float* out, int64_t count) {
    const auto* block = static_cast<const uint8_t*>(gguf);
    for (int64_t i = 0; i < count; i += kBlock, block += kBytesQ4_1) {
      const Float scale = broadcast_half(block), minimum = broadcast_half(block + 2);
      nibbles(block + 4, out + i, [&](Float code) { return V::multiply_add(code, scale, minimum); });
    }
  }

 private:
  static constexpr int64_t kBytesQ8_0 = 34, kBytesQ4_0 = 18, kBytesQ4_1 = 20;

  HALOGEN_INLINE static Float broadcast_half(const uint8_t* from) {
    uint16_t halves[kLanes];
    std::memcpy(halves, from, 2);
    for (uint16_t& half : halves) half = halves[0];
    return V::load_half(halves);
  }

  template <class Value>
  HALOGEN_INLINE static void nibbles(const uint8_t* from, float* out, const Value& value) {
    for (int64_t k = 0; k < 16; k += kLanes) {
      Float low, high;
      V::load_nibbles(from + k, low, high);
      V::store(out + k, value(low));
      V::store(out + 16 + k, value(high));
    }
  }
};

}  // namespace halogen::kernel
