// Eight floats: what the shared templates (element.h, attention.h, tile_float.h) need from this instruction set.
#pragma once
#include <immintrin.h>

#include <cstdint>
#include <cstring>

#include "kernels/cpu/tile.h"

namespace halogen::kernel::avx2 {
namespace {

struct Vector {
  using Float = __m256;
  static constexpr int kLanes = 8;
  static constexpr int kRegisters = 16;

  HALOGEN_INLINE static __m256i first(int64_t count) {
    return _mm256_cmpgt_epi32(_mm256_set1_epi32(static_cast<int>(count)), _mm256_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7));
  }
  HALOGEN_INLINE static Float zero() { return _mm256_setzero_ps(); }
  HALOGEN_INLINE static Float set(float value) { return _mm256_set1_ps(value); }
  HALOGEN_INLINE static Float load(const float* from) { return _mm256_loadu_ps(from); }
  HALOGEN_INLINE static Float load(const float* from, int64_t count) { return _mm256_maskload_ps(from, first(count)); }
  HALOGEN_INLINE static void store(float* to, Float value) { _mm256_storeu_ps(to, value); }
  HALOGEN_INLINE static void store(float* to, Float value, int64_t count) {
    _mm256_maskstore_ps(to, first(count), value);
  }
  // Halves and the upper halves of floats (BF16).
  HALOGEN_INLINE static Float load_half(const uint16_t* from) {
    return _mm256_cvtph_ps(_mm_loadu_si128(reinterpret_cast<const __m128i*>(from)));
  }
  HALOGEN_INLINE static Float load_half(const uint16_t* from, int64_t count) {
    uint16_t halves[kLanes] = {};
    std::memcpy(halves, from, static_cast<size_t>(count) * 2);
    return load_half(halves);
  }
  HALOGEN_INLINE static void store_half(uint16_t* to, Float value, int64_t count) {
    uint16_t halves[kLanes];
    _mm_storeu_si128(reinterpret_cast<__m128i*>(halves), _mm256_cvtps_ph(value, _MM_FROUND_TO_NEAREST_INT));
    std::memcpy(to, halves, static_cast<size_t>(count) * 2);
  }
  HALOGEN_INLINE static Float load_upper(const uint16_t* from) {
    const __m256i wide = _mm256_cvtepu16_epi32(_mm_loadu_si128(reinterpret_cast<const __m128i*>(from)));
    return _mm256_castsi256_ps(_mm256_slli_epi32(wide, 16));
  }
  HALOGEN_INLINE static Float load_signed_bytes(const uint8_t* from) {
    return _mm256_cvtepi32_ps(_mm256_cvtepi8_epi32(_mm_loadl_epi64(reinterpret_cast<const __m128i*>(from))));
  }
  // The low, then the high nibbles of kLanes bytes.
  HALOGEN_INLINE static void load_nibbles(const uint8_t* from, Float& low, Float& high) {
    const __m256i bytes = _mm256_cvtepu8_epi32(_mm_loadl_epi64(reinterpret_cast<const __m128i*>(from)));
    low = _mm256_cvtepi32_ps(_mm256_and_si256(bytes, _mm256_set1_epi32(15)));
    high = _mm256_cvtepi32_ps(_mm256_srli_epi32(bytes, 4));
  }

  HALOGEN_INLINE static Float add(Float a, Float b) { return _mm256_add_ps(a, b); }
  HALOGEN_INLINE static Float subtract(Float a, Float b) { return _mm256_sub_ps(a, b); }
  HALOGEN_INLINE static Float multiply(Float a, Float b) { return _mm256_mul_ps(a, b); }
  HALOGEN_INLINE static Float divide(Float a, Float b) { return _mm256_div_ps(a, b); }
  HALOGEN_INLINE static Float maximum(Float a, Float b) { return _mm256_max_ps(a, b); }
  HALOGEN_INLINE static Float multiply_add(Float a, Float b, Float c) { return _mm256_fmadd_ps(a, b, c); }
  // a * b - c in even lanes, a * b + c in odd ones.
  HALOGEN_INLINE static Float multiply_alternate(Float a, Float b, Float c) { return _mm256_fmaddsub_ps(a, b, c); }
  HALOGEN_INLINE static float sum(Float value) {
    const __m128 four = _mm_add_ps(_mm256_castps256_ps128(value), _mm256_extractf128_ps(value, 1));
    const __m128 two = _mm_add_ps(four, _mm_movehl_ps(four, four));
    return _mm_cvtss_f32(_mm_add_ss(two, _mm_shuffle_ps(two, two, 1)));
  }
  HALOGEN_INLINE static float largest(Float value) {
    const __m128 four = _mm_max_ps(_mm256_castps256_ps128(value), _mm256_extractf128_ps(value, 1));
    const __m128 two = _mm_max_ps(four, _mm_movehl_ps(four, four));
    return _mm_cvtss_f32(_mm_max_ss(two, _mm_shuffle_ps(two, two, 1)));
  }

  HALOGEN_INLINE static Float swap_pairs(Float value) { return _mm256_permute_ps(value, 0xb1); }
  // Each of kLanes / 2 floats twice.
  HALOGEN_INLINE static Float load_doubled(const float* from) {
    const __m256i index = _mm256_setr_epi32(0, 0, 1, 1, 2, 2, 3, 3);
    return _mm256_permutevar8x32_ps(_mm256_castps128_ps256(_mm_loadu_ps(from)), index);
  }
  // value where index + lane lies in [begin, end), else minus infinity.
  HALOGEN_INLINE static Float keep(Float value, int64_t begin, int64_t end) {
    const int64_t low = begin < 0 ? 0 : begin > kLanes ? int64_t{kLanes} : begin;
    const int64_t high = end < 0 ? 0 : end > kLanes ? int64_t{kLanes} : end;
    const Float mask = _mm256_castsi256_ps(_mm256_andnot_si256(first(low), first(high)));
    return _mm256_blendv_ps(_mm256_set1_ps(-__builtin_inff()), value, mask);
  }

  HALOGEN_INLINE static Float exp2(Float x) {
    // Operand order keeps a NaN.
    const Float bounded = _mm256_min_ps(_mm256_set1_ps(127.4f), _mm256_max_ps(_mm256_set1_ps(-126.0f), x));
    const Float whole = _mm256_round_ps(bounded, _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC);
    const Float part = _mm256_sub_ps(bounded, whole);
    Float value = _mm256_set1_ps(kExp2[0]);
    for (int i = 1; i < 7; ++i) value = _mm256_fmadd_ps(value, part, _mm256_set1_ps(kExp2[i]));
    const __m256i power = _mm256_slli_epi32(_mm256_cvtps_epi32(whole), 23);
    const Float scaled = _mm256_castsi256_ps(_mm256_add_epi32(_mm256_castps_si256(value), power));
    const Float tiny = _mm256_cmp_ps(x, _mm256_set1_ps(-126.0f), _CMP_LT_OQ);
    const Float number = _mm256_andnot_ps(tiny, scaled);
    return _mm256_blendv_ps(number, x, _mm256_cmp_ps(x, x, _CMP_UNORD_Q));
  }

  // Lane i becomes the sum of values[i].
  HALOGEN_INLINE static Float sums(const Float (&values)[kLanes]) {
    Float quads[2];
    for (int i = 0; i < 2; ++i) {
      const Float* v = values + 4 * i;
      quads[i] = _mm256_hadd_ps(_mm256_hadd_ps(v[0], v[1]), _mm256_hadd_ps(v[2], v[3]));
    }
    return _mm256_add_ps(_mm256_permute2f128_ps(quads[0], quads[1], 0x20),
                         _mm256_permute2f128_ps(quads[0], quads[1], 0x31));
  }

  // Rows become columns.
  HALOGEN_INLINE static void transpose(Float (&v)[kLanes]) {
    Float quads[kLanes];
    for (int i = 0; i < 2; ++i) {
      const __m256d a = _mm256_castps_pd(_mm256_unpacklo_ps(v[4 * i], v[4 * i + 1]));
      const __m256d b = _mm256_castps_pd(_mm256_unpackhi_ps(v[4 * i], v[4 * i + 1]));
      const __m256d c = _mm256_castps_pd(_mm256_unpacklo_ps(v[4 * i + 2], v[4 * i + 3]));
      const __m256d d = _mm256_castps_pd(_mm256_unpackhi_ps(v[4 * i + 2], v[4 * i + 3]));
      quads[4 * i] = _mm256_castpd_ps(_mm256_unpacklo_pd(a, c));
      quads[4 * i + 1] = _mm256_castpd_ps(_mm256_unpackhi_pd(a, c));
      quads[4 * i + 2] = _mm256_castpd_ps(_mm256_unpacklo_pd(b, d));
      quads[4 * i + 3] = _mm256_castpd_ps(_mm256_unpackhi_pd(b, d));
    }
    for (int i = 0; i < 4; ++i) {
      v[i] = _mm256_permute2f128_ps(quads[i], quads[4 + i], 0x20);
      v[4 + i] = _mm256_permute2f128_ps(quads[i], quads[4 + i], 0x31);
    }
  }

 private:
  // 2^x on [-1/2, 1/2], highest power first.
  static constexpr float kExp2[7] = {1.5403530e-4f, 1.3333558e-3f, 9.6181291e-3f, 5.5504109e-2f,
                                     2.4022651e-1f, 6.9314718e-1f, 1.0f};
};

}  // namespace
}  // namespace halogen::kernel::avx2
