// Products of Q4_0, Q4_1 and Q8_0 weights with 16-bit activations: 8 rows per register, one 32-bit lane per row.
#include "kernel_table.h"
#include "kernels/cpu/avx2/vector.h"
#include "kernels/cpu/block.h"

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

HALOGEN_INLINE __m256 load_halves(const uint8_t* from) {
  return _mm256_cvtph_ps(_mm_load_si128(reinterpret_cast<const __m128i*>(from)));
}

HALOGEN_INLINE __m256i load_bytes(const uint8_t* from) {
  return _mm256_load_si256(reinterpret_cast<const __m256i*>(from));
}

// dot += codes * pairs. As one piece, because GCC 12 holds back the sums and runs out of registers for the products.
HALOGEN_INLINE void multiply_add(__m256i& dot, __m256i codes, __m256i pairs) {
  __m256i product;
  asm("vpmaddwd %3, %2, %1\n\tvpaddd %1, %0, %0" : "+x"(dot), "=&x"(product) : "x"(codes), "x"(pairs));
}

// One token's block: 16 pairs, with the largest magnitude at kPeak. A NaN or infinity becomes the scale.
HALOGEN_INLINE void quantize_block(const float* x, uint8_t* pairs, int64_t pair_step, uint8_t* tail,
                                   int64_t tail_step) {
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
  const float scale = peak / kPeak;
  const __m256 inverse = _mm256_set1_ps(peak >= kSmallestPeak ? kPeak / peak : 0.0f);
  alignas(32) uint8_t stored[kPairBytes];
  __m256i fours = _mm256_setzero_si256();
  for (int i = 0; i < 4; i += 2) {
    // The middle two of four change places (see kActivationBytes); packing works on halves of a register.
    const __m256i low = _mm256_cvtps_epi32(_mm256_permute_ps(_mm256_mul_ps(values[i], inverse), 0xd8));
    const __m256i high = _mm256_cvtps_epi32(_mm256_permute_ps(_mm256_mul_ps(values[i + 1], inverse), 0xd8));
    const __m256i codes = _mm256_permute4x64_epi64(_mm256_packs_epi32(low, high), 0xd8);
    _mm256_store_si256(reinterpret_cast<__m256i*>(stored + 16 * i), codes);
    fours = _mm256_add_epi32(fours, _mm256_madd_epi16(codes, _mm256_set1_epi16(1)));
  }
  for (int64_t pair = 0; pair < 16; ++pair) std::memcpy(pairs + pair * pair_step, stored + pair * 4, 4);
  __m128i total = _mm_add_epi32(_mm256_castsi256_si128(fours), _mm256_extracti128_si256(fours, 1));
  total = _mm_add_epi32(total, _mm_shuffle_epi32(total, 0x4e));
  total = _mm_add_epi32(total, _mm_shuffle_epi32(total, 0xb1));
  const float scaled_sum = scale * static_cast<float>(_mm_cvtsi128_si32(total));
  std::memcpy(tail, &scale, 4);
  std::memcpy(tail + tail_step, &scaled_sum, 4);
}

template <class F>
struct Block : BlockTile<Vector, F, 8> {
  using Tile = BlockTile<Vector, F, 8>;
  static constexpr int kLanes = 8;
  static constexpr int kTokens = 4;
  static constexpr bool kPaired = true;
  static constexpr int64_t token_bytes(int64_t columns) { return columns / kBlock * kActivationBytes; }

  static void prepare_group(const float* x, int64_t x_stride, uint8_t* group, int64_t columns, int64_t tokens) {
    for (int64_t block = 0; block < columns / kBlock; ++block) {
      uint8_t* to = group + block * kActivationBytes * tokens;
      for (int64_t token = 0; token < tokens; ++token) {
        quantize_block(x + token * x_stride + block * kBlock, to + token * 4, tokens * 4,
                       to + kPairBytes * tokens + token * 4, tokens * 4);
      }
    }
  }

  // Register i of a word's four of code pairs, as 16-bit numbers: see pair_at.
  HALOGEN_INLINE static __m256i load_pair(const uint8_t* from, int word, int i) {
    if constexpr (F::kWords == 8) {
      const __m256i codes = load_bytes(from + (word + i % 2 * 4) * 32);
      return _mm256_srai_epi16(i < 2 ? _mm256_slli_epi16(codes, 8) : codes, 8);
    } else if constexpr (F::kFlip != 0) {
      const __m256i codes = load_bytes(from + word * 32);
      return _mm256_srai_epi16(i < 3 ? _mm256_slli_epi16(codes, 12 - 4 * i) : codes, 12);
    } else {
      const __m256i codes = load_bytes(from + word * 32);
      const __m256i shifted = i > 0 ? _mm256_srli_epi16(codes, 4 * i) : codes;
      return i < 3 ? _mm256_and_si256(shifted, _mm256_set1_epi16(0x0f)) : shifted;
    }
  }

  template <int T>
  static void run_group(const uint8_t* tile, const uint8_t* group, int64_t columns, float* out, int64_t out_stride,
                        int64_t rows) {
    __m256 sum[T];
    for (int t = 0; t < T; ++t) sum[t] = _mm256_setzero_ps();
    for (int64_t block = 0; block < columns / kBlock; ++block) {
      __m256i dot[T];
      for (int t = 0; t < T; ++t) dot[t] = _mm256_setzero_si256();
      for (int word = 0; word < 4; ++word) {
        for (int i = 0; i < 4; ++i) {
          const __m256i pair = load_pair(tile + Tile::code_at(block), word, i);
          for (int t = 0; t < T; ++t) {
            multiply_add(dot[t], pair, broadcast(group + (pair_at(word, i) * T + t) * 4));
          }
        }
      }
      const __m256 scale = load_halves(tile + Tile::scale_at(block));
      const uint8_t* tail = group + kPairBytes * T;
      for (int t = 0; t < T; ++t) {
        const __m256 scaled = _mm256_mul_ps(_mm256_cvtepi32_ps(dot[t]), scale);
        sum[t] = _mm256_fmadd_ps(scaled, broadcast_float(tail + t * 4), sum[t]);
      }
      if constexpr (F::kMinimum) {
        const __m256 minimum = load_halves(tile + Tile::minimum_at(block));
        for (int t = 0; t < T; ++t) sum[t] = _mm256_fmadd_ps(minimum, broadcast_float(tail + (T + t) * 4), sum[t]);
      }
      group += kActivationBytes * T;
    }
    for (int t = 0; t < T; ++t) Vector::store(out + t * out_stride, sum[t], rows);
  }

  // A broadcast serves two tiles. The sums wait in memory: the dots of both fill the registers.
  static void run_pair(const uint8_t* tile, const uint8_t* next_tile, const uint8_t* group, int64_t columns, float* out,
                       int64_t out_stride) {
    constexpr int T = kTokens;
    const uint8_t* tiles[2] = {tile, next_tile};
    __m256 sum[2][T];
    for (auto& row : sum) {
      for (__m256& value : row) value = _mm256_setzero_ps();
    }
    for (int64_t block = 0; block < columns / kBlock; ++block) {
      __m256i dot[2][T];
      for (auto& row : dot) {
        for (__m256i& value : row) value = _mm256_setzero_si256();
      }
      for (int word = 0; word < 4; ++word) {
        for (int i = 0; i < 4; ++i) {
          __m256i pairs[2];
          for (int r = 0; r < 2; ++r) pairs[r] = load_pair(tiles[r] + Tile::code_at(block), word, i);
          for (int t = 0; t < T; ++t) {
            const __m256i x = broadcast(group + (pair_at(word, i) * T + t) * 4);
            for (int r = 0; r < 2; ++r) multiply_add(dot[r][t], pairs[r], x);
          }
        }
      }
      const uint8_t* tail = group + kPairBytes * T;
      for (int r = 0; r < 2; ++r) {
        const __m256 scale = load_halves(tiles[r] + Tile::scale_at(block));
        for (int t = 0; t < T; ++t) {
          const __m256 scaled = _mm256_mul_ps(_mm256_cvtepi32_ps(dot[r][t]), scale);
          sum[r][t] = _mm256_fmadd_ps(scaled, broadcast_float(tail + t * 4), sum[r][t]);
        }
        if constexpr (F::kMinimum) {
          const __m256 minimum = load_halves(tiles[r] + Tile::minimum_at(block));
          for (int t = 0; t < T; ++t) {
            sum[r][t] = _mm256_fmadd_ps(minimum, broadcast_float(tail + (T + t) * 4), sum[r][t]);
          }
        }
      }
      group += kActivationBytes * T;
    }
    for (int t = 0; t < T; ++t) {
      for (int r = 0; r < 2; ++r) Vector::store(out + t * out_stride + r * kLanes, sum[r][t]);
    }
  }
};

}  // namespace

const Matmul matmul_q4_0 = TileMatmul<Block<FormatQ4_0>>::face();
const Matmul matmul_q4_1 = TileMatmul<Block<FormatQ4_1>>::face();
const Matmul matmul_q8_0 = TileMatmul<Block<FormatQ8_0>>::face();

}  // namespace halogen::kernel::avx2
