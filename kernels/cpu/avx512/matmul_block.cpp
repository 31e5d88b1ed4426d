// Products of Q4_0, Q4_1 and Q8_0 weights with int8 activations: 16 rows per register, one VNNI lane per row.
#include "kernels/cpu/avx512/intrinsics.h"

#include "kernel_table.h"
#include "kernels/cpu/block.h"

namespace halogen::kernel::avx512 {
namespace {

struct Variant;

HALOGEN_INLINE __m512i broadcast(const uint8_t* from) {
  int32_t word;
  std::memcpy(&word, from, 4);
  return _mm512_set1_epi32(word);
}

HALOGEN_INLINE __m512 load_halves(const uint8_t* from) {
  return _mm512_cvtph_ps(_mm256_load_si256(reinterpret_cast<const __m256i*>(from)));
}

// dot += codes * the four bytes at `from`, broadcast by the load itself: GCC 12 makes two instructions of the
// intrinsics.
HALOGEN_INLINE void multiply_add(__m512i& dot, __m512i codes, const uint8_t* from) {
  asm("vpdpbusd %2%{1to16%}, %1, %0" : "+v"(dot) : "v"(codes), "m"(*reinterpret_cast<const int32_t*>(from)));
}

// sum += factor * the float at `from`, likewise.
HALOGEN_INLINE void multiply_add(__m512& sum, __m512 factor, const uint8_t* from) {
  asm("vfmadd231ps %2%{1to16%}, %1, %0" : "+v"(sum) : "v"(factor), "m"(*reinterpret_cast<const int32_t*>(from)));
}

// One token's block: 32 values to int8 with the largest magnitude at 127. A NaN or infinity becomes the scale.
HALOGEN_INLINE void quantize_block(const float* x, uint8_t* codes, int64_t code_step, uint8_t* tail,
                                   int64_t tail_step) {
  const __m512 low = _mm512_loadu_ps(x);
  const __m512 high = _mm512_loadu_ps(x + 16);
  const __m512i magnitude = _mm512_set1_epi32(0x7fffffff);
  // Ordered as integers, so that a NaN wins over every number.
  const __m512i largest = _mm512_max_epu32(_mm512_and_si512(_mm512_castps_si512(low), magnitude),
                                           _mm512_and_si512(_mm512_castps_si512(high), magnitude));
  const uint32_t bits = _mm512_reduce_max_epu32(largest);
  float peak;
  std::memcpy(&peak, &bits, 4);
  const float scale = peak / 127.0f;
  const __m512 inverse = _mm512_set1_ps(peak > 0.0f ? 127.0f / peak : 0.0f);
  const __m512i low_code = _mm512_cvtps_epi32(_mm512_mul_ps(low, inverse));
  const __m512i high_code = _mm512_cvtps_epi32(_mm512_mul_ps(high, inverse));
  alignas(32) uint8_t bytes[kBlock];
  _mm_store_si128(reinterpret_cast<__m128i*>(bytes), _mm512_cvtsepi32_epi8(low_code));
  _mm_store_si128(reinterpret_cast<__m128i*>(bytes + 16), _mm512_cvtsepi32_epi8(high_code));
  for (int64_t word = 0; word < 8; ++word) std::memcpy(codes + word * code_step, bytes + word * 4, 4);
  const __m512i clamped = _mm512_add_epi32(_mm512_cvtepi8_epi32(_mm512_cvtsepi32_epi8(low_code)),
                                           _mm512_cvtepi8_epi32(_mm512_cvtsepi32_epi8(high_code)));
  const int32_t sum = _mm512_reduce_add_epi32(clamped);
  const float scaled_sum = scale * static_cast<float>(sum);
  const int32_t negative = -sum;
  std::memcpy(tail, &scale, 4);
  std::memcpy(tail + tail_step, &scaled_sum, 4);
  std::memcpy(tail + 2 * tail_step, &negative, 4);
}

template <class F>
struct Block : BlockTile<Variant, F, 16> {
  using Tile = BlockTile<Variant, F, 16>;
  static constexpr int kLanes = 16;
  static constexpr int kTokens = 8;
  static constexpr bool kPaired = true;
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

  // Words `word` and `word` + 4 of a block as unsigned bytes.
  HALOGEN_INLINE static void load_words(const uint8_t* from, int word, __m512i& low, __m512i& high) {
    const __m512i first = _mm512_load_si512(from + word * 64);
    if constexpr (F::kWords == 8) {
      low = first;
      high = _mm512_load_si512(from + (word + 4) * 64);
    } else {
      const __m512i mask = _mm512_set1_epi8(0x0f);
      low = _mm512_and_si512(first, mask);
      high = _mm512_and_si512(_mm512_srli_epi16(first, 4), mask);
    }
  }

  HALOGEN_INLINE static void load_codes(const uint8_t* from, __m512i (&codes)[8]) {
    for (int word = 0; word < 4; ++word) load_words(from, word, codes[word], codes[word + 4]);
  }

  template <int T>
  static void run_group(const uint8_t* tile, const uint8_t* group, int64_t columns, float* out, int64_t out_stride,
                        int64_t rows) {
    __m512 sum[T];
    for (int t = 0; t < T; ++t) sum[t] = _mm512_setzero_ps();
    for (int64_t block = 0; block < columns / kBlock; ++block) {
      __m512i codes[8];
      load_codes(tile + Tile::code_at(block), codes);
      const __m512 scale = load_halves(tile + Tile::scale_at(block));
      const uint8_t* tail = group + kBlock * T;
      for (int t = 0; t < T; ++t) {
        __m512i dot = F::kOffsetShift != 0 ? _mm512_slli_epi32(broadcast(tail + (2 * T + t) * 4), F::kOffsetShift)
                                           : _mm512_setzero_si512();
        for (int word = 0; word < 8; ++word) {
          multiply_add(dot, codes[word], group + (word * T + t) * 4);
        }
        const __m512 scaled = _mm512_mul_ps(_mm512_cvtepi32_ps(dot), scale);
        multiply_add(sum[t], scaled, tail + t * 4);
      }
      if constexpr (F::kMinimum) {
        const __m512 minimum = load_halves(tile + Tile::minimum_at(block));
        for (int t = 0; t < T; ++t) multiply_add(sum[t], minimum, tail + (T + t) * 4);
      }
      group += kActivationBytes * T;
    }
    const __mmask16 mask = static_cast<__mmask16>((1u << rows) - 1);
    for (int t = 0; t < T; ++t) _mm512_mask_storeu_ps(out + t * out_stride, mask, sum[t]);
  }

  // A broadcast serves two tiles: with one, loads are the limit rather than products.
  static void run_pair(const uint8_t* tile, const uint8_t* next_tile, const uint8_t* group, int64_t columns, float* out,
                       int64_t out_stride) {
    constexpr int T = kTokens;
    const uint8_t* tiles[2] = {tile, next_tile};
    __m512 sum[2][T];
    for (auto& row : sum) {
      for (__m512& value : row) value = _mm512_setzero_ps();
    }
    for (int64_t block = 0; block < columns / kBlock; ++block) {
      const uint8_t* tail = group + kBlock * T;
      __m512i dot[2][T];
      for (int t = 0; t < T; ++t) {
        dot[0][t] = F::kOffsetShift != 0 ? _mm512_slli_epi32(broadcast(tail + (2 * T + t) * 4), F::kOffsetShift)
                                         : _mm512_setzero_si512();
        dot[1][t] = dot[0][t];
      }
      for (int word = 0; word < 4; ++word) {
        __m512i low[2], high[2];
        for (int r = 0; r < 2; ++r) load_words(tiles[r] + Tile::code_at(block), word, low[r], high[r]);
        for (int t = 0; t < T; ++t) {
          const __m512i lower = broadcast(group + (word * T + t) * 4);
          const __m512i upper = broadcast(group + ((word + 4) * T + t) * 4);
          for (int r = 0; r < 2; ++r) dot[r][t] = _mm512_dpbusd_epi32(dot[r][t], low[r], lower);
          for (int r = 0; r < 2; ++r) dot[r][t] = _mm512_dpbusd_epi32(dot[r][t], high[r], upper);
        }
      }
      for (int r = 0; r < 2; ++r) {
        const __m512 scale = load_halves(tiles[r] + Tile::scale_at(block));
        for (int t = 0; t < T; ++t) {
          multiply_add(sum[r][t], _mm512_mul_ps(_mm512_cvtepi32_ps(dot[r][t]), scale), tail + t * 4);
        }
        if constexpr (F::kMinimum) {
          const __m512 minimum = load_halves(tiles[r] + Tile::minimum_at(block));
          for (int t = 0; t < T; ++t) multiply_add(sum[r][t], minimum, tail + (T + t) * 4);
        }
      }
      group += kActivationBytes * T;
    }
    for (int t = 0; t < T; ++t) {
      _mm512_storeu_ps(out + t * out_stride, sum[0][t]);
      _mm512_storeu_ps(out + t * out_stride + kLanes, sum[1][t]);
    }
  }
};

}  // namespace

const Matmul matmul_q4_0 = TileMatmul<Block<FormatQ4_0>>::face();
const Matmul matmul_q4_1 = TileMatmul<Block<FormatQ4_1>>::face();
const Matmul matmul_q8_0 = TileMatmul<Block<FormatQ8_0Unsigned>>::face();

}  // namespace halogen::kernel::avx512
