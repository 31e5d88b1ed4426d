// Products of block formats: 16 rows per register, one VNNI lane per row. The high and low bytes of the activation
// codes meet the unsigned weight codes one after the other, so a weight is unpacked to one byte only.
#pragma once
#include "kernels/cpu/avx512/lanes.h"

namespace halogen::kernel::avx512 {
namespace {

// dot += codes * the four bytes at `from`, broadcast by the load itself: GCC 12 makes two instructions of the
// intrinsics.
HALOGEN_INLINE void multiply_add(__m512i& dot, __m512i codes, const uint8_t* from) {
  asm("vpdpbusd %2%{1to16%}, %1, %0" : "+v"(dot) : "v"(codes), "m"(*reinterpret_cast<const int32_t*>(from)));
}

// sum += factor * the float at `from`, likewise.
HALOGEN_INLINE void multiply_add(__m512& sum, __m512 factor, const uint8_t* from) {
  asm("vfmadd231ps %2%{1to16%}, %1, %0" : "+v"(sum) : "v"(factor), "m"(*reinterpret_cast<const int32_t*>(from)));
}

HALOGEN_INLINE __m512i broadcast(const uint8_t* from) {
  int32_t word;
  std::memcpy(&word, from, 4);
  return _mm512_set1_epi32(word);
}

template <class F>
struct Block : BlockTile<Lanes, F, 16> {
  using Tile = BlockTile<Lanes, F, 16>;
  using Activation = Lanes;
  static constexpr int kLanes = 16;
  static constexpr int kTokens = Lanes::kTokens;
  static constexpr bool kPaired = false;
  static constexpr int kRuns = 32 / F::Scales::kRun;
  static constexpr int kWords = 8 / kRuns;

  // Minus the sum of the codes that meet one scale, in every lane.
  template <int T>
  HALOGEN_INLINE static __m512i negative_sum(const uint8_t* tail, int run, int t) {
    if constexpr (kRuns == 1) return broadcast(tail + (T + t) * 4);
    const __m512i first = broadcast(tail + (2 * T + t) * 4);
    return run == 0 ? first : _mm512_sub_epi32(broadcast(tail + (T + t) * 4), first);
  }

  // Sums of the products of words [first, first + kWords) with T tokens, exact.
  template <int T>
  HALOGEN_INLINE static void dots(const uint8_t* codes, int first, const uint8_t* group, __m512i (&dot)[T]) {
    __m512i word[kWords];
    HALOGEN_UNROLL for (int g = 0; g < kWords; ++g) {
      word[g] = F::Codes::template decode<Lanes>(codes, first + g);
    }
    const uint8_t* high = group + first * T * 4;
    const uint8_t* low = high + 8 * T * 4;
    if constexpr (T < 4) {
      // Few tokens have too few sums to hide the latency of a product: each half has its own, one token two of them.
      constexpr int kSplit = T == 1 ? 2 : 1;
      __m512i sums[2][kSplit][T];
      for (auto& half : sums) {
        for (auto& split : half) {
          for (__m512i& sum : split) sum = _mm512_setzero_si512();
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
    if constexpr (F::kOffset >= 0) {
      HALOGEN_UNROLL for (int t = 0; t < T; ++t) {
        const __m512i negative = negative_sum<T>(group + kCodeBytes * T, first / kWords, t);
        dot[t] = _mm512_add_epi32(dot[t], _mm512_slli_epi32(negative, F::kOffset));
      }
    }
  }

  template <int T>
  HALOGEN_INLINE static void step(const uint8_t* record, int64_t block, const uint8_t* group, __m512 (&sum)[T]) {
    const uint8_t* codes = record + Tile::kHead + block * Tile::kCodes;
    const uint8_t* tail = group + kCodeBytes * T;
    __m512 part[T];
    HALOGEN_UNROLL for (int run = 0; run < kRuns; ++run) {
      __m512i dot[T];
      dots<T>(codes, run * kWords, group, dot);
      const __m512 scale = F::Scales::template scale<Lanes>(record, block, run);
      HALOGEN_UNROLL for (int t = 0; t < T; ++t) {
        const __m512 value = _mm512_cvtepi32_ps(dot[t]);
        part[t] = run == 0 ? _mm512_mul_ps(value, scale) : _mm512_fmadd_ps(value, scale, part[t]);
      }
      if constexpr (F::Scales::kMinimum && kRuns == 2) {
        const __m512 minimum = F::Scales::template minimum<Lanes>(record, block, run);
        HALOGEN_UNROLL for (int t = 0; t < T; ++t) {
          part[t] = _mm512_fnmadd_ps(minimum, _mm512_cvtepi32_ps(negative_sum<T>(tail, run, t)), part[t]);
        }
      }
    }
    HALOGEN_UNROLL for (int t = 0; t < T; ++t) multiply_add(sum[t], part[t], tail + t * 4);
    if constexpr (F::Scales::kMinimum && kRuns == 1) {
      const __m512 minimum = F::Scales::template minimum<Lanes>(record, block, 0);
      HALOGEN_UNROLL for (int t = 0; t < T; ++t) multiply_add(sum[t], minimum, tail + (3 * T + t) * 4);
    }
  }

  template <int T>
  static void run_group(const uint8_t* tile, const uint8_t* group, int64_t columns, float* out, int64_t out_stride,
                        int64_t rows) {
    __m512 sum[T];
    HALOGEN_UNROLL for (int t = 0; t < T; ++t) sum[t] = _mm512_setzero_ps();
    // Claimed early: the lines of `out` come from afar, and the stores would wait for them.
    if constexpr (T == kTokens) {
      for (int t = 0; t < T; ++t) asm("prefetchw %0" : : "m"(out[t * out_stride]));
    }
    const int64_t blocks = columns / kBlock;
    for (int64_t done = 0; done < blocks; tile += Tile::kRecord) {
      const int64_t count = blocks - done < Tile::kBlocks ? blocks - done : int64_t{Tile::kBlocks};
      for (int64_t block = 0; block < count; ++block, group += kActivationBytes * T) step<T>(tile, block, group, sum);
      done += count;
    }
    const __mmask16 mask = static_cast<__mmask16>((1u << rows) - 1);
    HALOGEN_UNROLL for (int t = 0; t < T; ++t) _mm512_mask_storeu_ps(out + t * out_stride, mask, sum[t]);
  }
};

}  // namespace
}  // namespace halogen::kernel::avx512
