// Eight 32-bit lanes, one row of a tile each: what block_product.h, code.h and scale.h need from this instruction set.
// Weight codes widen to pairs of 16 bits.
#pragma once
#include <immintrin.h>

#include "kernels/cpu/block.h"

namespace halogen::kernel::avx2 {

struct Lanes {
  using Bytes = __m256i;
  using Float = __m256;
  static constexpr int kLanes = 8;
  static constexpr int kTokens = 4;
  static constexpr int kTiles = 2;

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

  HALOGEN_INLINE static Bytes subtract(Bytes a, Bytes b) { return _mm256_sub_epi32(a, b); }
  template <int N>
  HALOGEN_INLINE static Bytes shift_lanes(Bytes a) {
    return _mm256_slli_epi32(a, N);
  }
  // c - a * b
  HALOGEN_INLINE static Float subtract_product(Float c, Float a, Float b) { return _mm256_fnmadd_ps(a, b, c); }
  HALOGEN_INLINE static void add_scaled(Float& sum, Float factor, const uint8_t* from) {
    sum = _mm256_fmadd_ps(factor, _mm256_castsi256_ps(broadcast(from)), sum);
  }

  // Codes of a group of T tokens, per block: pairs int16[16][T][2]. Pair 2g + j holds columns 4g + j and 4g + j + 2:
  // the even and the odd bytes of word g, as they widen to 16 bits in place.
  HALOGEN_INLINE static float write_codes(const float* x, uint8_t* to, int64_t tokens, int32_t (&sums)[2]) {
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
    for (int half = 0; half < 2; ++half) {
      // The middle two of four change places; packing works on halves of a register.
      const __m256i low = _mm256_cvtps_epi32(_mm256_permute_ps(_mm256_mul_ps(values[2 * half], inverse), 0xd8));
      const __m256i high = _mm256_cvtps_epi32(_mm256_permute_ps(_mm256_mul_ps(values[2 * half + 1], inverse), 0xd8));
      const __m256i codes = _mm256_permute4x64_epi64(_mm256_packs_epi32(low, high), 0xd8);
      _mm256_store_si256(reinterpret_cast<__m256i*>(pairs + 32 * half), codes);
      sums[half] = sum(_mm256_madd_epi16(codes, _mm256_set1_epi16(1)));
    }
    for (int64_t pair = 0; pair < 16; ++pair) std::memcpy(to + pair * tokens * 4, pairs + pair * 4, 4);
    return peak;
  }

  // A broadcast serves all tiles.
  template <class B, int R, int T>
  HALOGEN_INLINE static void dots(const uint8_t* const (&records)[R], int64_t block, int run, const uint8_t* group,
                                  Bytes (&dot)[R][T]) {
    HALOGEN_UNROLL for (int t = 0; t < T; ++t) {
      Bytes first = _mm256_setzero_si256();
      if constexpr (B::kShifted) first = B::template offset<T>(group, run, t);
      HALOGEN_UNROLL for (int r = 0; r < R; ++r) dot[r][t] = first;
    }
    HALOGEN_UNROLL for (int g = 0; g < B::kWords; ++g) {
      const int word = run * B::kWords + g;
      Bytes codes[R];
      HALOGEN_UNROLL for (int r = 0; r < R; ++r) codes[r] = B::codes(records[r], block, word);
      HALOGEN_UNROLL for (int odd = 0; odd < 2; ++odd) {
        Bytes pairs[R];
        HALOGEN_UNROLL for (int r = 0; r < R; ++r) {
          pairs[r] = odd != 0 ? _mm256_srli_epi16(codes[r], 8) : _mm256_and_si256(codes[r], _mm256_set1_epi16(0x00ff));
        }
        HALOGEN_UNROLL for (int t = 0; t < T; ++t) {
          const Bytes x = broadcast(group + ((2 * word + odd) * T + t) * 4);
          HALOGEN_UNROLL for (int r = 0; r < R; ++r) multiply_add(dot[r][t], pairs[r], x);
        }
      }
    }
  }

 private:
  HALOGEN_INLINE static Bytes broadcast(const uint8_t* from) {
    int32_t word;
    std::memcpy(&word, from, 4);
    return _mm256_set1_epi32(word);
  }

  // dot += codes * pairs. As one piece, because GCC 12 holds back the sums and runs out of registers for the products.
  HALOGEN_INLINE static void multiply_add(Bytes& dot, Bytes codes, Bytes pairs) {
    Bytes product;
    asm("vpmaddwd %3, %2, %1\n\tvpaddd %1, %0, %0" : "+x"(dot), "=&x"(product) : "x"(codes), "x"(pairs));
  }

  HALOGEN_INLINE static int32_t sum(__m256i value) {
    __m128i total = _mm_add_epi32(_mm256_castsi256_si128(value), _mm256_extracti128_si256(value, 1));
    total = _mm_add_epi32(total, _mm_shuffle_epi32(total, 0x4e));
    return _mm_cvtsi128_si32(_mm_add_epi32(total, _mm_shuffle_epi32(total, 0xb1)));
  }
};

}  // namespace halogen::kernel::avx2
