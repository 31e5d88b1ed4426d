// Products of block formats: 8 rows per register, one 32-bit lane per row. Weight codes widen to pairs of 16 bits.
#pragma once
#include "kernels/cpu/avx2/lanes.h"
#include "kernels/cpu/avx2/vector.h"

namespace halogen::kernel::avx2 {
namespace {

HALOGEN_INLINE __m256i broadcast(const uint8_t* from) {
  int32_t word;
  std::memcpy(&word, from, 4);
  return _mm256_set1_epi32(word);
}

HALOGEN_INLINE __m256 broadcast_float(const uint8_t* from) {
  return _mm256_castsi256_ps(broadcast(from));
}

// dot += codes * pairs. As one piece, because GCC 12 holds back the sums and runs out of registers for the products.
HALOGEN_INLINE void multiply_add(__m256i& dot, __m256i codes, __m256i pairs) {
  __m256i product;
  asm("vpmaddwd %3, %2, %1\n\tvpaddd %1, %0, %0" : "+x"(dot), "=&x"(product) : "x"(codes), "x"(pairs));
}

template <class F>
struct Block : BlockTile<Lanes, F, 8> {
  using Tile = BlockTile<Lanes, F, 8>;
  using Activation = Lanes;
  static constexpr int kLanes = 8;
  static constexpr int kTokens = Lanes::kTokens;
  static constexpr bool kPaired = true;
  static constexpr int kRuns = 32 / F::Scales::kRun;
  static constexpr int kWords = 8 / kRuns;

  // Minus the sum of the codes that meet one scale, in every lane.
  template <int T>
  HALOGEN_INLINE static __m256i negative_sum(const uint8_t* tail, int run, int t) {
    if constexpr (kRuns == 1) return broadcast(tail + (T + t) * 4);
    const __m256i first = broadcast(tail + (2 * T + t) * 4);
    return run == 0 ? first : _mm256_sub_epi32(broadcast(tail + (T + t) * 4), first);
  }

  // Block `block` of a record of R tiles, times T tokens. A broadcast serves all tiles.
  template <int R, int T>
  HALOGEN_INLINE static void step(const uint8_t* const (&records)[R], int64_t block, const uint8_t* group,
                                  __m256 (&sum)[R][T]) {
    const uint8_t* tail = group + kCodeBytes * T;
    __m256 part[R][T];
    HALOGEN_UNROLL for (int run = 0; run < kRuns; ++run) {
      __m256i dot[R][T];
      HALOGEN_UNROLL for (int t = 0; t < T; ++t) {
        __m256i first = _mm256_setzero_si256();
        if constexpr (F::kOffset >= 0) first = _mm256_slli_epi32(negative_sum<T>(tail, run, t), F::kOffset);
        HALOGEN_UNROLL for (int r = 0; r < R; ++r) dot[r][t] = first;
      }
      HALOGEN_UNROLL for (int g = 0; g < kWords; ++g) {
        const int word = run * kWords + g;
        __m256i codes[R];
        HALOGEN_UNROLL for (int r = 0; r < R; ++r) {
          codes[r] = F::Codes::template decode<Lanes>(records[r] + Tile::kHead + block * Tile::kCodes, word);
        }
        HALOGEN_UNROLL for (int odd = 0; odd < 2; ++odd) {
          __m256i pairs[R];
          HALOGEN_UNROLL for (int r = 0; r < R; ++r) {
            pairs[r] =
                odd != 0 ? _mm256_srli_epi16(codes[r], 8) : _mm256_and_si256(codes[r], _mm256_set1_epi16(0x00ff));
          }
          HALOGEN_UNROLL for (int t = 0; t < T; ++t) {
            const __m256i x = broadcast(group + ((2 * word + odd) * T + t) * 4);
            HALOGEN_UNROLL for (int r = 0; r < R; ++r) multiply_add(dot[r][t], pairs[r], x);
          }
        }
      }
      HALOGEN_UNROLL for (int r = 0; r < R; ++r) {
        const __m256 scale = F::Scales::template scale<Lanes>(records[r], block, run);
        HALOGEN_UNROLL for (int t = 0; t < T; ++t) {
          const __m256 value = _mm256_cvtepi32_ps(dot[r][t]);
          part[r][t] = run == 0 ? _mm256_mul_ps(value, scale) : _mm256_fmadd_ps(value, scale, part[r][t]);
        }
        if constexpr (F::Scales::kMinimum && kRuns == 2) {
          const __m256 minimum = F::Scales::template minimum<Lanes>(records[r], block, run);
          HALOGEN_UNROLL for (int t = 0; t < T; ++t) {
            const __m256 negative = _mm256_cvtepi32_ps(negative_sum<T>(tail, run, t));
            part[r][t] = _mm256_fnmadd_ps(minimum, negative, part[r][t]);
          }
        }
      }
    }
    HALOGEN_UNROLL for (int r = 0; r < R; ++r) {
      HALOGEN_UNROLL for (int t = 0; t < T; ++t) {
        sum[r][t] = _mm256_fmadd_ps(part[r][t], broadcast_float(tail + t * 4), sum[r][t]);
      }
      if constexpr (F::Scales::kMinimum && kRuns == 1) {
        const __m256 minimum = F::Scales::template minimum<Lanes>(records[r], block, 0);
        HALOGEN_UNROLL for (int t = 0; t < T; ++t) {
          sum[r][t] = _mm256_fmadd_ps(minimum, broadcast_float(tail + (3 * T + t) * 4), sum[r][t]);
        }
      }
    }
  }

  template <int R, int T>
  HALOGEN_INLINE static void run_tiles(const uint8_t* (&records)[R], const uint8_t* group, int64_t columns,
                                       __m256 (&sum)[R][T]) {
    for (auto& row : sum) {
      for (__m256& value : row) value = _mm256_setzero_ps();
    }
    const int64_t blocks = columns / kBlock;
    for (int64_t done = 0; done < blocks;) {
      const int64_t count = blocks - done < Tile::kBlocks ? blocks - done : int64_t{Tile::kBlocks};
      for (int64_t block = 0; block < count; ++block, group += kActivationBytes * T) {
        step<R, T>(records, block, group, sum);
      }
      for (const uint8_t*& record : records) record += Tile::kRecord;
      done += count;
    }
  }

  template <int T>
  static void run_group(const uint8_t* tile, const uint8_t* group, int64_t columns, float* out, int64_t out_stride,
                        int64_t rows) {
    const uint8_t* records[1] = {tile};
    __m256 sum[1][T];
    run_tiles<1, T>(records, group, columns, sum);
    HALOGEN_UNROLL for (int t = 0; t < T; ++t) Vector::store(out + t * out_stride, sum[0][t], rows);
  }

  static void run_pair(const uint8_t* tile, const uint8_t* next_tile, const uint8_t* group, int64_t columns, float* out,
                       int64_t out_stride) {
    const uint8_t* records[2] = {tile, next_tile};
    __m256 sum[2][kTokens];
    // Claimed early: the lines of `out` come from afar, and the stores would wait for them.
    for (int t = 0; t < kTokens; ++t) asm("prefetchw %0" : : "m"(out[t * out_stride]));
    run_tiles<2, kTokens>(records, group, columns, sum);
    for (int t = 0; t < kTokens; ++t) {
      for (int r = 0; r < 2; ++r) Vector::store(out + t * out_stride + r * kLanes, sum[r][t]);
    }
  }
};

}  // namespace
}  // namespace halogen::kernel::avx2
