// Sixteen 32-bit lanes, one row of a tile each: what block_product.h, code.h and scale.h need from this instruction
// set. The high and low bytes of the activation codes meet the unsigned weight codes one after the other (VNNI), so a
// weight is unpacked to one byte only.
#pragma once
#include "kernels/cpu/avx512/intrinsics.h"
#include "kernels/cpu/block.h"

namespace halogen::kernel::avx512 {

struct Lanes {
  using Bytes = __m512i;
  using Float = __m512;
  static constexpr int kLanes = 16;
  static constexpr int kTokens = 8;
  static constexpr int kTiles = 1;

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

  HALOGEN_INLINE static Bytes subtract(Bytes a, Bytes b) { return _mm512_sub_epi32(a, b); }
  template <int N>
  HALOGEN_INLINE static Bytes shift_lanes(Bytes a) {
    return _mm512_slli_epi32(a, N);
  }
  // c - a * b
  HALOGEN_INLINE static Float subtract_product(Float c, Float a, Float b) { return _mm512_fnmadd_ps(a, b, c); }
  // The load itself broadcasts: GCC 12 makes two instructions of the intrinsics.
  HALOGEN_INLINE static void add_scaled(Float& sum, Float factor, const uint8_t* from) {
    asm("vfmadd231ps %2%{1to16%}, %1, %0" : "+v"(sum) : "v"(factor), "m"(*reinterpret_cast<const int32_t*>(from)));
  }

  // The code c of a column is 256 * high + low, both signed bytes. Per block of a group of T tokens: high bytes
  // int8[8][T][4], then low bytes likewise; the four of word g are columns 4g .. 4g + 3.
  HALOGEN_INLINE static float write_codes(const float* x, uint8_t* to, int64_t tokens, int32_t (&sums)[2]) {
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
    for (int half = 0; half < 2; ++half) sums[half] = _mm512_reduce_add_epi32(codes[half]);
    return peak;
  }

  // One tile at a time: a group of eight tokens and the words of a run leave few of 32 registers.
  template <class B, int T>
  HALOGEN_INLINE static void dots(const uint8_t* const (&records)[1], int64_t block, int run, const uint8_t* group,
                                  Bytes (&to)[1][T]) {
    constexpr int kWords = B::kWords;
    Bytes(&dot)[T] = to[0];
    Bytes word[kWords];
    HALOGEN_UNROLL for (int g = 0; g < kWords; ++g) word[g] = B::codes(records[0], block, run * kWords + g);
    const uint8_t* high = group + run * kWords * T * 4;
    const uint8_t* low = high + 8 * T * 4;
    if constexpr (T < 4) {
      // Few tokens have too few sums to hide the latency of a product: each half has its own, one token two of them.
      constexpr int kSplit = T == 1 ? 2 : 1;
      Bytes sums[2][kSplit][T];
      for (auto& half : sums) {
        for (auto& split : half) {
          for (Bytes& sum : split) sum = _mm512_setzero_si512();
        }
      }
      HALOGEN_UNROLL for (int g = 0; g < kWords; ++g) {
        HALOGEN_UNROLL for (int t = 0; t < T; ++t) {
          multiply_add(sums[0][g % kSplit][t], word[g], high + (g * T + t) * 4);
          multiply_add(sums[1][g % kSplit][t], word[g], low + (g * T + t) * 4);
        }
      }
      HALOGEN_UNROLL for (int t = 0; t < T; ++t) {
        for (auto& sum : sums) {
          if (kSplit == 2) sum[0][t] = _mm512_add_epi32(sum[0][t], sum[kSplit - 1][t]);
        }
        dot[t] = _mm512_add_epi32(_mm512_slli_epi32(sums[0][0][t], 8), sums[1][0][t]);
      }
    } else {
      HALOGEN_UNROLL for (int t = 0; t < T; ++t) dot[t] = _mm512_setzero_si512();
      HALOGEN_UNROLL for (int g = 0; g < kWords; ++g) {
        HALOGEN_UNROLL for (int t = 0; t < T; ++t) multiply_add(dot[t], word[g], high + (g * T + t) * 4);
      }
      HALOGEN_UNROLL for (int t = 0; t < T; ++t) dot[t] = _mm512_slli_epi32(dot[t], 8);
      HALOGEN_UNROLL for (int g = 0; g < kWords; ++g) {
        HALOGEN_UNROLL for (int t = 0; t < T; ++t) multiply_add(dot[t], word[g], low + (g * T + t) * 4);
      }
    }
    if constexpr (B::kShifted) {
      HALOGEN_UNROLL for (int t = 0; t < T; ++t) dot[t] =
          _mm512_add_epi32(dot[t], B::template offset<T>(group, run, t));
    }
  }

 private:
  // dot += codes * the four bytes at `from`, broadcast likewise.
  HALOGEN_INLINE static void multiply_add(Bytes& dot, Bytes codes, const uint8_t* from) {
    asm("vpdpbusd %2%{1to16%}, %1, %0" : "+v"(dot) : "v"(codes), "m"(*reinterpret_cast<const int32_t*>(from)));
  }
};

}  // namespace halogen::kernel::avx512
