// Eight 32-bit lanes, one row of a tile each: what code.h and scale.h need from this instruction set, and activations.
#pragma once
#include <immintrin.h>

#include "kernels/cpu/block.h"

namespace halogen::kernel::avx2 {

// Not in an anonymous namespace: kernels of several files have the same form of activations, and so share one.
struct Lanes {
  using Bytes = __m256i;
  using Float = __m256;
  static constexpr int kLanes = 8;
  static constexpr int kTokens = 4;
  static constexpr int64_t token_bytes(int64_t columns) { return columns / kBlock * kActivationBytes; }

  HALOGEN_INLINE static Bytes load(const uint8_t* from) {
    return _mm256_load_si256(reinterpret_cast<const __m256i*>(from));
  }
  HALOGEN_INLINE static Bytes mask(Bytes a, int mask) {
    return _mm256_and_si256(a, _mm256_set1_epi8(static_cast<char>(mask)));
  }
  // Bits that cross into a neighbouring byte are for mask() or merge() to drop.
  HALOGEN_INLINE static Bytes shift_left(Bytes a, int count) { return count == 0 ? a : _mm256_slli_epi16(a, count); }
  HALOGEN_INLINE static Bytes shift_right(Bytes a, int count) { return count == 0 ? a : _mm256_srli_epi16(a, count); }
  // a | (b & mask)
  HALOGEN_INLINE static Bytes merge(Bytes a, Bytes b, int bits) { return _mm256_or_si256(a, mask(b, bits)); }
  HALOGEN_INLINE static Bytes look_up(const uint8_t (&table)[16], Bytes index) {
    const __m128i values = _mm_loadu_si128(reinterpret_cast<const __m128i*>(table));
    return _mm256_shuffle_epi8(_mm256_broadcastsi128_si256(values), index);
  }

  HALOGEN_INLINE static Float floats(const uint8_t* from) { return _mm256_castsi256_ps(load(from)); }
  HALOGEN_INLINE static Float halves(const uint8_t* from) {
    return _mm256_cvtph_ps(_mm_load_si128(reinterpret_cast<const __m128i*>(from)));
  }
  HALOGEN_INLINE static Float signed_bytes(const uint8_t* from) {
    return _mm256_cvtepi32_ps(_mm256_cvtepi8_epi32(_mm_loadl_epi64(reinterpret_cast<const __m128i*>(from))));
  }
  HALOGEN_INLINE static Float unsigned_bytes(const uint8_t* from) { return _mm256_cvtepi32_ps(integers(from)); }
  // Bytes as unsigned 32-bit integers.
  HALOGEN_INLINE static Bytes integers(const uint8_t* from) {
    return _mm256_cvtepu8_epi32(_mm_loadl_epi64(reinterpret_cast<const __m128i*>(from)));
  }
  HALOGEN_INLINE static Float to_float(Bytes integers) { return _mm256_cvtepi32_ps(integers); }
  // 2^(e - 128); the first two are subnormal.
  HALOGEN_INLINE static Float powers(const uint8_t* from) {
    const __m256i e = integers(from);
    const __m256i normal = _mm256_slli_epi32(_mm256_sub_epi32(e, _mm256_set1_epi32(1)), 23);
    const __m256i tiny = _mm256_cmpgt_epi32(_mm256_set1_epi32(2), e);
    return _mm256_castsi256_ps(_mm256_blendv_epi8(normal, _mm256_sllv_epi32(_mm256_set1_epi32(0x00200000), e), tiny));
  }
  // Half of floats with four exponent and three fraction bits: moved to where a half has them, they lack 2^8.
  HALOGEN_INLINE static Float half_small_floats(const uint8_t* from) {
    const __m128i wide = _mm_cvtepu8_epi16(_mm_loadl_epi64(reinterpret_cast<const __m128i*>(from)));
    return _mm256_mul_ps(_mm256_cvtph_ps(_mm_slli_epi16(wide, 7)), _mm256_set1_ps(0x1p7f));
  }
  HALOGEN_INLINE static Float multiply(Float a, Float b) { return _mm256_mul_ps(a, b); }

  HALOGEN_INLINE static int32_t sum(__m256i value) {
    __m128i total = _mm_add_epi32(_mm256_castsi256_si128(value), _mm256_extracti128_si256(value, 1));
    total = _mm_add_epi32(total, _mm_shuffle_epi32(total, 0x4e));
    return _mm_cvtsi128_si32(_mm_add_epi32(total, _mm_shuffle_epi32(total, 0xb1)));
  }

  // Codes of a group of T tokens, per block: pairs int16[16][T][2]. Pair 2g + j holds columns 4g + j and 4g + j + 2:
  // the even and the odd bytes of word g, as they widen to 16 bits in place.
  static void quantize(const float* x, uint8_t* to, int64_t tokens) {
    __m256 values[4];
    __m256i largest = _mm256_setzero_si256();
    for (int i = 0; i < 4; ++i) {
      values[i] = _mm256_loadu_ps(x + 8 * i);
      // Ordered as integers, so that a NaN wins over every number.
      const __m256i magnitude = _mm256_and_si256(_mm256_castps_si256(values[i]), _mm256_set1_epi32(0x7fffffff));
      largest = _mm256_max_epu32(largest, magnitude);
    }
    __m128i most = _mm_max_epu32(_mm256_castsi256_si128(largest), _mm256_extracti128_si256(largest, 1));
    most = _mm_max_epu32(most, _mm_shuffle_epi32(most, 0x4e));
    most = _mm_max_epu32(most, _mm_shuffle_epi32(most, 0xb1));
    const float peak = _mm_cvtss_f32(_mm_castsi128_ps(most));
    const __m256 inverse = _mm256_set1_ps(peak >= kSmallestPeak ? kPeak / peak : 0.0f);
    alignas(32) uint8_t pairs[kCodeBytes];
    int32_t sums[2];
    for (int half = 0; half < 2; ++half) {
      // The middle two of four change places; packing works on halves of a register.
      const __m256i low = _mm256_cvtps_epi32(_mm256_permute_ps(_mm256_mul_ps(values[2 * half], inverse), 0xd8));
      const __m256i high = _mm256_cvtps_epi32(_mm256_permute_ps(_mm256_mul_ps(values[2 * half + 1], inverse), 0xd8));
      const __m256i codes = _mm256_permute4x64_epi64(_mm256_packs_epi32(low, high), 0xd8);
      _mm256_store_si256(reinterpret_cast<__m256i*>(pairs + 32 * half), codes);
      sums[half] = sum(_mm256_madd_epi16(codes, _mm256_set1_epi16(1)));
    }
    for (int64_t pair = 0; pair < 16; ++pair) std::memcpy(to + pair * tokens * 4, pairs + pair * 4, 4);
    const float scale = peak / kPeak;
    const int32_t negative[2] = {-(sums[0] + sums[1]), -sums[0]};
    const float scaled_sum = scale * static_cast<float>(sums[0] + sums[1]);
    uint8_t* tail = to + kCodeBytes * tokens;
    std::memcpy(tail, &scale, 4);
    std::memcpy(tail + 4 * tokens, negative, 4);
    std::memcpy(tail + 8 * tokens, negative + 1, 4);
    std::memcpy(tail + 12 * tokens, &scaled_sum, 4);
  }

  static void prepare_group(const float* x, int64_t x_stride, uint8_t* group, int64_t columns, int64_t tokens) {
    for (int64_t block = 0; block < columns / kBlock; ++block) {
      for (int64_t token = 0; token < tokens; ++token) {
        quantize(x + token * x_stride + block * kBlock, group + block * kActivationBytes * tokens + token * 4, tokens);
      }
    }
  }
};

}  // namespace halogen::kernel::avx2
