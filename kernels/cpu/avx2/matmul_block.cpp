// Products of Q4_0, Q4_1 and Q8_0 weights with int8 activations: 8 rows per register, one 32-bit lane per row.
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

// One token's block: 32 values to int8 with the largest magnitude at 127. A NaN or infinity becomes the scale.
HALOGEN_INLINE void quantize_block(const float* x, uint8_t* codes, int64_t code_step, uint8_t* tail,
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
  const float scale = peak / 127.0f;
  const __m256 inverse = _mm256_set1_ps(peak > 0.0f ? 127.0f / peak : 0.0f);
  __m256i whole[4];
  for (int i = 0; i < 4; ++i) whole[i] = _mm256_cvtps_epi32(_mm256_mul_ps(values[i], inverse));
  const __m256i mixed =
      _mm256_packs_epi16(_mm256_packs_epi32(whole[0], whole[1]), _mm256_packs_epi32(whole[2], whole[3]));
  const __m256i bytes = _mm256_permutevar8x32_epi32(mixed, _mm256_setr_epi32(0, 4, 1, 5, 2, 6, 3, 7));
  alignas(32) uint8_t stored[kBlock];
  _mm256_store_si256(reinterpret_cast<__m256i*>(stored), bytes);
  for (int64_t word = 0; word < 8; ++word) std::memcpy(codes + word * code_step, stored + word * 4, 4);
  const __m256i pairs = _mm256_maddubs_epi16(_mm256_set1_epi8(1), bytes);
  const __m256i fours = _mm256_madd_epi16(pairs, _mm256_set1_epi16(1));
  __m128i total = _mm_add_epi32(_mm256_castsi256_si128(fours), _mm256_extracti128_si256(fours, 1));
  total = _mm_add_epi32(total, _mm_shuffle_epi32(total, 0x4e));
  total = _mm_add_epi32(total, _mm_shuffle_epi32(total, 0xb1));
  const int32_t sum = _mm_cvtsi128_si32(total);
  const float scaled_sum = scale * static_cast<float>(sum);
  const int32_t negative = -sum;
  std::memcpy(tail, &scale, 4);
  std::memcpy(tail + tail_step, &scaled_sum, 4);
  std::memcpy(tail + 2 * tail_step, &negative, 4);
}

template <class F>
struct Block : BlockTile<Vector, F, 8> {
  using Tile = BlockTile<Vector, F, 8>;
  static constexpr int kLanes = 8;
  static constexpr int kTokens = 4;
  static constexpr bool kPaired = false;
  static constexpr int64_t token_bytes(int64_t columns) { return columns / kBlock * kActivationBytes; }

  static void prepare_group(const float* x, int64_t x_stride, uint8_t* group, int64_t columns, int64_t tokens) {
    for (int64_t block = 0; block < columns / kBlock; ++block) {
      uint8_t* to = group + block * kActivationBytes * tokens;
      for (int64_t token = 0; token < tokens; ++token) {
        quantize_block(x + token * x_stride + block * kBlock, to + token * 4, tokens * 4,
                       to + kBlock * tokens + token * 4, tokens * 4);
      }
    }
  }

  // Unsigned nibbles: eight products of at most 15 * 128 * 2 add up in 16 bits.
  template <int T>
  HALOGEN_INLINE static void dot_nibbles(const uint8_t* words, const uint8_t* group, __m256i (&dot)[T]) {
    const __m256i mask = _mm256_set1_epi8(0x0f);
    __m256i pairs[T];
    for (int t = 0; t < T; ++t) pairs[t] = _mm256_setzero_si256();
    for (int word = 0; word < 4; ++word) {
      const __m256i both = load_bytes(words + word * 32);
      const __m256i low = _mm256_and_si256(both, mask);
      const __m256i high = _mm256_and_si256(_mm256_srli_epi16(both, 4), mask);
      for (int t = 0; t < T; ++t) {
        const __m256i lower = _mm256_maddubs_epi16(low, broadcast(group + (word * T + t) * 4));
        const __m256i upper = _mm256_maddubs_epi16(high, broadcast(group + ((word + 4) * T + t) * 4));
        pairs[t] = _mm256_add_epi16(pairs[t], _mm256_add_epi16(lower, upper));
      }
    }
    for (int t = 0; t < T; ++t) dot[t] = _mm256_madd_epi16(pairs[t], _mm256_set1_epi16(1));
  }

  // The weight's sign moves to the activation; a pair of products fits in 16 bits, a second one would not.
  template <int T>
  HALOGEN_INLINE static void dot_bytes(const uint8_t* words, const uint8_t* group, __m256i (&dot)[T]) {
    for (int t = 0; t < T; ++t) dot[t] = _mm256_setzero_si256();
    for (int word = 0; word < 8; ++word) {
      const __m256i codes = load_bytes(words + word * 32);
      const __m256i magnitude = _mm256_abs_epi8(codes);
      for (int t = 0; t < T; ++t) {
        const __m256i moved = _mm256_sign_epi8(broadcast(group + (word * T + t) * 4), codes);
        const __m256i fours = _mm256_madd_epi16(_mm256_maddubs_epi16(magnitude, moved), _mm256_set1_epi16(1));
        dot[t] = _mm256_add_epi32(dot[t], fours);
      }
    }
  }

  template <int T>
  static void run_group(const uint8_t* tile, const uint8_t* group, int64_t columns, float* out, int64_t out_stride,
                        int64_t rows) {
    __m256 sum[T];
    for (int t = 0; t < T; ++t) sum[t] = _mm256_setzero_ps();
    for (int64_t block = 0; block < columns / kBlock; ++block) {
      __m256i dot[T];
      if constexpr (F::kWords == 4) {
        dot_nibbles<T>(tile + Tile::code_at(block), group, dot);
      } else {
        dot_bytes<T>(tile + Tile::code_at(block), group, dot);
      }
      const __m256 scale = load_halves(tile + Tile::scale_at(block));
      const uint8_t* tail = group + kBlock * T;
      for (int t = 0; t < T; ++t) {
        if constexpr (F::kOffsetShift != 0) {
          dot[t] = _mm256_add_epi32(dot[t], _mm256_slli_epi32(broadcast(tail + (2 * T + t) * 4), F::kOffsetShift));
        }
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
};

}  // namespace

const Matmul matmul_q4_0 = TileMatmul<Block<FormatQ4_0>>::face();
const Matmul matmul_q4_1 = TileMatmul<Block<FormatQ4_1>>::face();
const Matmul matmul_q8_0 = TileMatmul<Block<FormatQ8_0Signed>>::face();

}  // namespace halogen::kernel::avx2
