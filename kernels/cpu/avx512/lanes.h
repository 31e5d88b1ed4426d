// Sixteen 32-bit lanes, one row of a tile each: what code.h and scale.h need from this instruction set, and
// activations.
#pragma once
#include "kernels/cpu/avx512/intrinsics.h"
#include "kernels/cpu/block.h"

namespace halogen::kernel::avx512 {

// Not in an anonymous namespace: kernels of several files have the same form of activations, and so share one.
struct Lanes {
  using Bytes = __m512i;
  using Float = __m512;
  static constexpr int kLanes = 16;
  static constexpr int kTokens = 8;
  static constexpr int64_t token_bytes(int64_t columns) { return columns / kBlock * kActivationBytes; }

  HALOGEN_INLINE static Bytes load(const uint8_t* from) { return _mm512_load_si512(from); }
  HALOGEN_INLINE static Bytes mask(Bytes a, int mask) {
    return _mm512_and_si512(a, _mm512_set1_epi8(static_cast<char>(mask)));
  }
  // Bits that cross into a neighbouring byte are for mask() or merge() to drop.
  HALOGEN_INLINE static Bytes shift_left(Bytes a, int count) {
    return count == 0 ? a : _mm512_slli_epi16(a, static_cast<unsigned>(count));
  }
  HALOGEN_INLINE static Bytes shift_right(Bytes a, int count) {
    return count == 0 ? a : _mm512_srli_epi16(a, static_cast<unsigned>(count));
  }
  // a | (b & mask)
  HALOGEN_INLINE static Bytes merge(Bytes a, Bytes b, int mask) {
    return _mm512_ternarylogic_epi32(a, b, _mm512_set1_epi8(static_cast<char>(mask)), 0xf8);
  }
  HALOGEN_INLINE static Bytes look_up(const uint8_t (&table)[16], Bytes index) {
    const __m128i values = _mm_loadu_si128(reinterpret_cast<const __m128i*>(table));
    return _mm512_shuffle_epi8(_mm512_broadcast_i32x4(values), index);
  }

  HALOGEN_INLINE static Float floats(const uint8_t* from) { return _mm512_load_ps(from); }
  HALOGEN_INLINE static Float halves(const uint8_t* from) {
    return _mm512_cvtph_ps(_mm256_load_si256(reinterpret_cast<const __m256i*>(from)));
  }
  HALOGEN_INLINE static Float signed_bytes(const uint8_t* from) {
    return _mm512_cvtepi32_ps(_mm512_cvtepi8_epi32(_mm_load_si128(reinterpret_cast<const __m128i*>(from))));
  }
  HALOGEN_INLINE static Float unsigned_bytes(const uint8_t* from) { return _mm512_cvtepi32_ps(integers(from)); }
  // Bytes as unsigned 32-bit integers.
  HALOGEN_INLINE static Bytes integers(const uint8_t* from) {
    return _mm512_cvtepu8_epi32(_mm_load_si128(reinterpret_cast<const __m128i*>(from)));
  }
  HALOGEN_INLINE static Float to_float(Bytes integers) { return _mm512_cvtepi32_ps(integers); }
  // 2^(e - 128); the first two are subnormal.
  HALOGEN_INLINE static Float powers(const uint8_t* from) {
    const __m512i e = integers(from);
    const __m512i normal = _mm512_slli_epi32(_mm512_sub_epi32(e, _mm512_set1_epi32(1)), 23);
    const __mmask16 tiny = _mm512_cmplt_epu32_mask(e, _mm512_set1_epi32(2));
    return _mm512_castsi512_ps(_mm512_mask_sllv_epi32(normal, tiny, _mm512_set1_epi32(0x00200000), e));
  }
  // Half of floats with four exponent and three fraction bits: moved to where a half has them, they lack 2^8.
  HALOGEN_INLINE static Float half_small_floats(const uint8_t* from) {
    const __m256i wide = _mm256_cvtepu8_epi16(_mm_load_si128(reinterpret_cast<const __m128i*>(from)));
    return _mm512_mul_ps(_mm512_cvtph_ps(_mm256_slli_epi16(wide, 7)), _mm512_set1_ps(0x1p7f));
  }
  HALOGEN_INLINE static Float multiply(Float a, Float b) { return _mm512_mul_ps(a, b); }

  // The code c of a column is 256 * high + low, both signed bytes. Per block of a group of T tokens: high bytes
  // int8[8][T][4], then low bytes likewise; the four of word g are columns 4g .. 4g + 3.
  static void quantize(const float* x, uint8_t* to, int64_t tokens) {
    const __m512 first = _mm512_loadu_ps(x);
    const __m512 second = _mm512_loadu_ps(x + 16);
    const __m512i magnitude = _mm512_set1_epi32(0x7fffffff);
    // Ordered as integers, so that a NaN wins over every number.
    const __m512i largest = _mm512_max_epu32(_mm512_and_si512(_mm512_castps_si512(first), magnitude),
                                             _mm512_and_si512(_mm512_castps_si512(second), magnitude));
    const uint32_t bits = _mm512_reduce_max_epu32(largest);
    float peak;
    std::memcpy(&peak, &bits, 4);
    const __m512 inverse = _mm512_set1_ps(peak >= kSmallestPeak ? kPeak / peak : 0.0f);
    // A NaN or infinity becomes the scale, and spoils the block by it alone.
    const __mmask16 finite = bits < 0x7f800000u ? 0xffff : 0;
    const __m512i codes[2] = {_mm512_maskz_cvtps_epi32(finite, _mm512_mul_ps(first, inverse)),
                              _mm512_maskz_cvtps_epi32(finite, _mm512_mul_ps(second, inverse))};
    for (int half = 0; half < 2; ++half) {
      alignas(16) uint8_t bytes[2][16];
      const __m512i high = _mm512_srai_epi32(_mm512_add_epi32(codes[half], _mm512_set1_epi32(128)), 8);
      _mm_store_si128(reinterpret_cast<__m128i*>(bytes[0]), _mm512_cvtepi32_epi8(high));
      _mm_store_si128(reinterpret_cast<__m128i*>(bytes[1]), _mm512_cvtepi32_epi8(codes[half]));
      for (int64_t i = 0; i < 4; ++i) {
        std::memcpy(to + (half * 4 + i) * tokens * 4, bytes[0] + 4 * i, 4);
        std::memcpy(to + (8 + half * 4 + i) * tokens * 4, bytes[1] + 4 * i, 4);
      }
    }
    const float scale = peak / kPeak;
    const int32_t sums[2] = {_mm512_reduce_add_epi32(codes[0]), _mm512_reduce_add_epi32(codes[1])};
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

}  // namespace halogen::kernel::avx512
