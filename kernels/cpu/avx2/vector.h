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
  using Int = __m256i;  // kLanes 32-bit integers, or as many pairs of 16-bit ones
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
  HALOGEN_INLINE static Float load_upper(const uint16_t* from, int64_t count) {
    uint16_t halves[kLanes] = {};
    std::memcpy(halves, from, static_cast<size_t>(count) * 2);
    return load_upper(halves);
  }
  // Rounded to nearest even; a NaN stays one.
  HALOGEN_INLINE static void store_upper(uint16_t* to, Float value, int64_t count) {
    const __m256i bits = _mm256_castps_si256(value);
    const __m256i odd = _mm256_and_si256(_mm256_srli_epi32(bits, 16), _mm256_set1_epi32(1));
    const __m256i rounded = _mm256_add_epi32(bits, _mm256_add_epi32(odd, _mm256_set1_epi32(0x7fff)));
    const __m256i none = _mm256_castps_si256(_mm256_cmp_ps(value, value, _CMP_UNORD_Q));
    const __m256i kept = _mm256_blendv_epi8(rounded, _mm256_or_si256(bits, _mm256_set1_epi32(0x400000)), none);
    alignas(32) uint32_t words[kLanes];
    _mm256_store_si256(reinterpret_cast<__m256i*>(words), _mm256_srli_epi32(kept, 16));
    for (int64_t i = 0; i < count; ++i) to[i] = static_cast<uint16_t>(words[i]);
  }
  HALOGEN_INLINE static Float load_signed_bytes(const uint8_t* from, int64_t count) {
    uint8_t bytes[kLanes] = {};
    std::memcpy(bytes, from, static_cast<size_t>(count));
    return load_signed_bytes(bytes);
  }
  // Rounded to nearest even, saturated.
  HALOGEN_INLINE static void store_signed_bytes(int8_t* to, Float value, int64_t count) {
    const __m256i words = _mm256_cvtps_epi32(value);
    const __m128i pairs = _mm_packs_epi32(_mm256_castsi256_si128(words), _mm256_extracti128_si256(words, 1));
    int8_t bytes[kLanes];
    _mm_storel_epi64(reinterpret_cast<__m128i*>(bytes), _mm_packs_epi16(pairs, pairs));
    std::memcpy(to, bytes, static_cast<size_t>(count));
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
  HALOGEN_INLINE static Float magnitude(Float value) { return _mm256_andnot_ps(set(-0.0f), value); }
  HALOGEN_INLINE static float largest(Float value) {
    const __m128 four = _mm_max_ps(_mm256_castps256_ps128(value), _mm256_extractf128_ps(value, 1));
    const __m128 two = _mm_max_ps(four, _mm_movehl_ps(four, four));
    return _mm_cvtss_f32(_mm_max_ss(two, _mm_shuffle_ps(two, two, 1)));
  }

  HALOGEN_INLINE static Float swap_pairs(Float value) { return _mm256_permute_ps(value, 0xb1); }
  // Lanes i and i + H, for every i without bit H, become their sum and difference.
  template <int H>
  HALOGEN_INLINE static Float butterfly(Float value) {
    constexpr int upper = H == 1 ? 0xaa : H == 2 ? 0xcc : 0xf0;
    Float other;
    if constexpr (H == 1) other = _mm256_permute_ps(value, 0xb1);
    if constexpr (H == 2) other = _mm256_permute_ps(value, 0x4e);
    if constexpr (H == 4) other = _mm256_permute2f128_ps(value, value, 0x01);
    return _mm256_blend_ps(_mm256_add_ps(value, other), _mm256_sub_ps(other, value), upper);
  }
  // Each of kLanes / 2 floats twice.
  HALOGEN_INLINE static Float load_doubled(const float* from) {
    const __m256i index = _mm256_setr_epi32(0, 0, 1, 1, 2, 2, 3, 3);
    return _mm256_permutevar8x32_ps(_mm256_castps128_ps256(_mm_loadu_ps(from)), index);
  }
  // value in lanes [begin, end), else other.
  HALOGEN_INLINE static Float keep(Float value, int64_t begin, int64_t end, Float other) {
    const int64_t low = begin < 0 ? 0 : begin > kLanes ? int64_t{kLanes} : begin;
    const int64_t high = end < 0 ? 0 : end > kLanes ? int64_t{kLanes} : end;
    const Float mask = _mm256_castsi256_ps(_mm256_andnot_si256(first(low), first(high)));
    return _mm256_blendv_ps(other, value, mask);
  }

  HALOGEN_INLINE static Int zero_int() { return _mm256_setzero_si256(); }
  HALOGEN_INLINE static Int set_int(int32_t value) { return _mm256_set1_epi32(value); }
  HALOGEN_INLINE static Int load_int(const int32_t* from) {
    return _mm256_loadu_si256(reinterpret_cast<const __m256i*>(from));
  }
  HALOGEN_INLINE static void store_int(int32_t* to, Int value) {
    _mm256_storeu_si256(reinterpret_cast<__m256i*>(to), value);
  }
  HALOGEN_INLINE static Int to_int(Float value) { return _mm256_cvtps_epi32(value); }
  HALOGEN_INLINE static Float to_float(Int value) { return _mm256_cvtepi32_ps(value); }
  HALOGEN_INLINE static Int as_int(Float value) { return _mm256_castps_si256(value); }
  HALOGEN_INLINE static Float as_float(Int value) { return _mm256_castsi256_ps(value); }
  // The low halves of both as pairs.
  HALOGEN_INLINE static Int pair(Int low, Int high) {
    return _mm256_blend_epi16(low, _mm256_slli_epi32(high, 16), 0xaa);
  }
  // sum + a.low * b.low + a.high * b.high
  HALOGEN_INLINE static Int dot_pairs(Int sum, Int a, Int b) { return _mm256_add_epi32(sum, _mm256_madd_epi16(a, b)); }

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

  // 2^x within 3e-6 of itself, for x <= 0 that is no infinity.
  HALOGEN_INLINE static Float exp2_coarse(Float x) {
    const Float bounded = _mm256_max_ps(_mm256_set1_ps(-126.0f), x);
    const Float whole = _mm256_round_ps(bounded, _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC);
    const Float part = _mm256_sub_ps(bounded, whole);
    Float value = _mm256_set1_ps(kCoarseExp2[0]);
    for (int i = 1; i < 5; ++i) value = _mm256_fmadd_ps(value, part, _mm256_set1_ps(kCoarseExp2[i]));
    const __m256i power = _mm256_slli_epi32(_mm256_cvtps_epi32(whole), 23);
    const Float scaled = _mm256_castsi256_ps(_mm256_add_epi32(_mm256_castps_si256(value), power));
    return _mm256_andnot_ps(_mm256_cmp_ps(x, _mm256_set1_ps(-126.0f), _CMP_LT_OQ), scaled);
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
  HALOGEN_INLINE static Float maxima(const Float (&values)[kLanes]) {
    Float quads[2];
    for (int i = 0; i < 2; ++i) {
      const Float* v = values + 4 * i;
      const __m256d a = _mm256_castps_pd(maximum(_mm256_unpacklo_ps(v[0], v[1]), _mm256_unpackhi_ps(v[0], v[1])));
      const __m256d b = _mm256_castps_pd(maximum(_mm256_unpacklo_ps(v[2], v[3]), _mm256_unpackhi_ps(v[2], v[3])));
      quads[i] = maximum(_mm256_castpd_ps(_mm256_unpacklo_pd(a, b)), _mm256_castpd_ps(_mm256_unpackhi_pd(a, b)));
    }
    return maximum(_mm256_permute2f128_ps(quads[0], quads[1], 0x20), _mm256_permute2f128_ps(quads[0], quads[1], 0x31));
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
  // The same for 2^x within 3e-6, smallest largest error.
  static constexpr float kCoarseExp2[5] = {9.570101908e-3f, 5.591786032e-2f, 2.402474483e-1f, 6.931218147e-1f,
                                           9.999992614e-1f};
  // 2^x on [-1/2, 1/2], highest power first.
  static constexpr float kExp2[7] = {1.5403530e-4f, 1.3333558e-3f, 9.6181291e-3f, 5.5504109e-2f,
                                     2.4022651e-1f, 6.9314718e-1f, 1.0f};
};

}  // namespace
}  // namespace halogen::kernel::avx2
