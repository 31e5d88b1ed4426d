// Products of Q4_0, Q4_1 and Q8_0 weights with 16-bit activations: 16 rows per register, one VNNI lane per row.
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

// dot += codes * the pair at `from`, broadcast by the load itself: GCC 12 makes two instructions of the intrinsics.
HALOGEN_INLINE void multiply_add(__m512i& dot, __m512i codes, const uint8_t* from) {
  asm("vpdpwssd %2%{1to16%}, %1, %0" : "+v"(dot) : "v"(codes), "m"(*reinterpret_cast<const int32_t*>(from)));
}

// sum += factor * the float at `from`, likewise.
HALOGEN_INLINE void multiply_add(__m512& sum, __m512 factor, const uint8_t* from) {
  asm("vfmadd231ps %2%{1to16%}, %1, %0" : "+v"(sum) : "v"(factor), "m"(*reinterpret_cast<const int32_t*>(from)));
}

// One token's block: 16 pairs, with the largest magnitude at kPeak. A NaN or infinity becomes the scale.
HALOGEN_INLINE __m512i quantize_block(const float* x, float& scale, float& scaled_sum) {
  const __m512 low = _mm512_loadu_ps(x);
  const __m512 high = _mm512_loadu_ps(x + 16);
  const __m512i magnitude = _mm512_set1_epi32(0x7fffffff);
  // Ordered as integers, so that a NaN wins over every number.
  const __m512i largest = _mm512_max_epu32(_mm512_and_si512(_mm512_castps_si512(low), magnitude),
                                           _mm512_and_si512(_mm512_castps_si512(high), magnitude));
  const uint32_t bits = _mm512_reduce_max_epu32(largest);
  float peak;
  std::memcpy(&peak, &bits, 4);
  const __m512 inverse = _mm512_set1_ps(peak >= kSmallestPeak ? kPeak / peak : 0.0f);
  // The middle two of four change places: see kActivationBytes.
  const __m512i low_code = _mm512_cvtps_epi32(_mm512_permute_ps(_mm512_mul_ps(low, inverse), 0xd8));
  const __m512i high_code = _mm512_cvtps_epi32(_mm512_permute_ps(_mm512_mul_ps(high, inverse), 0xd8));
  const __m512i pairs = _mm512_inserti64x4(_mm512_castsi256_si512(_mm512_cvtsepi32_epi16(low_code)),
                                           _mm512_cvtsepi32_epi16(high_code), 1);
  scale = peak / kPeak;
  const __m512i sums = _mm512_madd_epi16(pairs, _mm512_set1_epi16(1));
  scaled_sum = scale * static_cast<float>(_mm512_reduce_add_epi32(sums));
  return pairs;
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
        float tail[2];
        alignas(64) uint8_t pairs[kPairBytes];
        _mm512_store_si512(pairs, quantize_block(x + token * x_stride + block * kBlock, tail[0], tail[1]));
        for (int64_t i = 0; i < 16; ++i) std::memcpy(to + (i * tokens + token) * 4, pairs + i * 4, 4);
        for (int64_t i = 0; i < 2; ++i) std::memcpy(to + kPairBytes * tokens + (i * tokens + token) * 4, tail + i, 4);
      }
    }
  }

  // Four registers of code pairs, as 16-bit numbers: see pair_at.
  HALOGEN_INLINE static void load_pairs(const uint8_t* from, int word, __m512i (&pairs)[4]) {
    const __m512i first = _mm512_load_si512(from + word * 64);
    if constexpr (F::kWords == 8) {
      const __m512i second = _mm512_load_si512(from + (word + 4) * 64);
      pairs[0] = _mm512_srai_epi16(_mm512_slli_epi16(first, 8), 8);
      pairs[1] = _mm512_srai_epi16(_mm512_slli_epi16(second, 8), 8);
      pairs[2] = _mm512_srai_epi16(first, 8);
      pairs[3] = _mm512_srai_epi16(second, 8);
    } else if constexpr (F::kFlip != 0) {
      pairs[0] = _mm512_srai_epi16(_mm512_slli_epi16(first, 12), 12);
      pairs[1] = _mm512_srai_epi16(_mm512_slli_epi16(first, 8), 12);
      pairs[2] = _mm512_srai_epi16(_mm512_slli_epi16(first, 4), 12);
      pairs[3] = _mm512_srai_epi16(first, 12);
    } else {
      const __m512i mask = _mm512_set1_epi16(0x0f);
      pairs[0] = _mm512_and_si512(first, mask);
      pairs[1] = _mm512_and_si512(_mm512_srli_epi16(first, 4), mask);
      pairs[2] = _mm512_and_si512(_mm512_srli_epi16(first, 8), mask);
      pairs[3] = _mm512_srli_epi16(first, 12);
    }
  }

  template <int T>
  static void run_group(const uint8_t* tile, const uint8_t* group, int64_t columns, float* out, int64_t out_stride,
                        int64_t rows) {
    // Few tokens have too few sums to hide the latency of a product.
    constexpr int kChains = T == 1 ? 4 : T == 2 ? 2 : 1;
    __m512 sum[T];
    for (int t = 0; t < T; ++t) sum[t] = _mm512_setzero_ps();
    for (int64_t block = 0; block < columns / kBlock; ++block) {
      __m512i dot[kChains][T];
      for (auto& chain : dot) {
        for (__m512i& value : chain) value = _mm512_setzero_si512();
      }
      for (int word = 0; word < 4; ++word) {
        __m512i pairs[4];
        load_pairs(tile + Tile::code_at(block), word, pairs);
        for (int i = 0; i < 4; ++i) {
          for (int t = 0; t < T; ++t)
            multiply_add(dot[i % kChains][t], pairs[i], group + (pair_at(word, i) * T + t) * 4);
        }
      }
      for (int chain = 1; chain < kChains; ++chain) {
        for (int t = 0; t < T; ++t) dot[0][t] = _mm512_add_epi32(dot[0][t], dot[chain][t]);
      }
      const uint8_t* tail = group + kPairBytes * T;
      const __m512 scale = load_halves(tile + Tile::scale_at(block));
      for (int t = 0; t < T; ++t) {
        multiply_add(sum[t], _mm512_mul_ps(_mm512_cvtepi32_ps(dot[0][t]), scale), tail + t * 4);
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
      __m512i dot[2][T];
      for (auto& row : dot) {
        for (__m512i& value : row) value = _mm512_setzero_si512();
      }
      for (int word = 0; word < 4; ++word) {
        __m512i pairs[2][4];
        for (int r = 0; r < 2; ++r) load_pairs(tiles[r] + Tile::code_at(block), word, pairs[r]);
        for (int i = 0; i < 4; ++i) {
          for (int t = 0; t < T; ++t) {
            const __m512i x = broadcast(group + (pair_at(word, i) * T + t) * 4);
            for (int r = 0; r < 2; ++r) dot[r][t] = _mm512_dpwssd_epi32(dot[r][t], pairs[r][i], x);
          }
        }
      }
      const uint8_t* tail = group + kPairBytes * T;
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
const Matmul matmul_q8_0 = TileMatmul<Block<FormatQ8_0>>::face();

}  // namespace halogen::kernel::avx512
