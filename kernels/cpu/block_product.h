// Products of block formats, written once over a variant's Vector and Lanes.
#pragma once
#include "kernels/cpu/block.h"

namespace halogen::kernel {
namespace {

// N is the variant's Lanes: what its instruction set multiplies bytes with. It gives the bytes of code.h and scale.h,
// kTokens and kTiles (multiplied at once with a whole group of tokens), and
//   write_codes(x, to, tokens, sums): one block of activations, in the order that dots() takes them; returns the peak
//   dots<B>(records, block, run, group, dot): dot[r][t] = B's offset plus the products of the words of `run`, exact
//   add_scaled(sum, factor, from): sum += factor * the float at `from`.
template <class V, class N, class F>
struct BlockProduct : BlockTile<N, F, N::kLanes> {
  using Tile = BlockTile<N, F, N::kLanes>;
  using Activation = BlockActivation<N>;
  using Float = typename V::Float;
  using Int = typename V::Int;
  static constexpr int kLanes = N::kLanes;
  static constexpr int kTokens = N::kTokens;
  static constexpr bool kPaired = N::kTiles == 2;
  static constexpr int kRuns = 32 / F::Scales::kRun;
  static constexpr int kWords = 8 / kRuns;
  static constexpr bool kShifted = F::kOffset >= 0;  // the codes have another zero than 0

  HALOGEN_INLINE static Int codes(const uint8_t* record, int64_t block, int word) {
    return F::Codes::template decode<N>(record + Tile::kHead + block * Tile::kCodes, word);
  }

  // Minus the sum of the activation codes that meet one scale, in every lane.
  template <int T>
  HALOGEN_INLINE static Int negative_sum(const uint8_t* tail, int run, int t) {
    if constexpr (kRuns == 1) return broadcast(tail + (T + t) * 4);
    const Int first = broadcast(tail + (2 * T + t) * 4);
    return run == 0 ? first : N::subtract(broadcast(tail + (T + t) * 4), first);
  }

  // What brings the zero of the weight codes to 0, where kShifted.
  template <int T>
  HALOGEN_INLINE static Int offset(const uint8_t* group, int run, int t) {
    return N::template shift_lanes<F::kOffset>(negative_sum<T>(group + kCodeBytes * T, run, t));
  }

  // Block `block` of a record of R tiles, times T tokens.
  template <int R, int T>
  HALOGEN_INLINE static void step(const uint8_t* const (&records)[R], int64_t block, const uint8_t* group,
                                  Float (&sum)[R][T]) {
    const uint8_t* tail = group + kCodeBytes * T;
    Float part[R][T];
    HALOGEN_UNROLL for (int run = 0; run < kRuns; ++run) {
      Int dot[R][T];
      N::template dots<BlockProduct>(records, block, run, group, dot);
      HALOGEN_UNROLL for (int r = 0; r < R; ++r) {
        const Float scale = F::Scales::template scale<N>(records[r], block, run);
        HALOGEN_UNROLL for (int t = 0; t < T; ++t) {
          const Float value = V::to_float(dot[r][t]);
          part[r][t] = run == 0 ? V::multiply(value, scale) : V::multiply_add(value, scale, part[r][t]);
        }
        if constexpr (F::Scales::kMinimum && kRuns == 2) {
          const Float minimum = F::Scales::template minimum<N>(records[r], block, run);
          HALOGEN_UNROLL for (int t = 0; t < T; ++t) {
            part[r][t] = N::subtract_product(part[r][t], minimum, V::to_float(negative_sum<T>(tail, run, t)));
          }
        }
      }
    }
    HALOGEN_UNROLL for (int r = 0; r < R; ++r) {
      HALOGEN_UNROLL for (int t = 0; t < T; ++t) N::add_scaled(sum[r][t], part[r][t], tail + t * 4);
      if constexpr (F::Scales::kMinimum && kRuns == 1) {
        const Float minimum = F::Scales::template minimum<N>(records[r], block, 0);
        HALOGEN_UNROLL for (int t = 0; t < T; ++t) N::add_scaled(sum[r][t], minimum, tail + (3 * T + t) * 4);
      }
    }
  }

  template <int R, int T>
  HALOGEN_INLINE static void run_tiles(const uint8_t* (&records)[R], const uint8_t* group, int64_t columns,
                                       Float (&sum)[R][T]) {
    for (auto& row : sum) {
      for (Float& value : row) value = V::zero();
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
    Float sum[1][T];
    if constexpr (T == kTokens) claim(out, out_stride);
    run_tiles<1, T>(records, group, columns, sum);
    HALOGEN_UNROLL for (int t = 0; t < T; ++t) V::store(out + t * out_stride, sum[0][t], rows);
  }

  static void run_pair(const uint8_t* tile, const uint8_t* next_tile, const uint8_t* group, int64_t columns, float* out,
                       int64_t out_stride) {
    const uint8_t* records[2] = {tile, next_tile};
    Float sum[2][kTokens];
    claim(out, out_stride);
    run_tiles<2, kTokens>(records, group, columns, sum);
    for (int t = 0; t < kTokens; ++t) {
      for (int r = 0; r < 2; ++r) V::store(out + t * out_stride + r * kLanes, sum[r][t]);
    }
  }

 private:
  HALOGEN_INLINE static Int broadcast(const uint8_t* from) {
    int32_t word;
    std::memcpy(&word, from, 4);
    return V::set_int(word);
  }

  // Early: the lines of `out` come from afar, and the stores would wait for them.
  HALOGEN_INLINE static void claim(float* out, int64_t out_stride) {
    for (int t = 0; t < kTokens; ++t) asm("prefetchw %0" : : "m"(out[t * out_stride]));
  }
};

}  // namespace
}  // namespace halogen::kernel
