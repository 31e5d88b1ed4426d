// Sixteen floats: what the shared templates (element.h, attention.h, tile_float.h) need from this instruction set.
#pragma once
#include <cstdint>
#include <cstring>

#include "kernels/cpu/avx512/intrinsics.h"
#include "kernels/cpu/tile.h"

namespace halogen::kernel::avx512 {
namespace {

struct Vector {
  using Float = __m512;
  using Int = __m512i;  // kLanes 32-bit integers, or as many pairs of 16-bit ones
  static constexpr int kLanes = 16;
  static constexpr int kRegisters = 32;

  HALOGEN_INLINE static __mmask16 first(int64_t count) { return static_cast<__mmask16>((1u << count) - 1); }
  HALOGEN_INLINE static Float zero() { return _mm512_setzero_ps(); }
  HALOGEN_INLINE static Float set(float value) { return _mm512_set1_ps(value); }
  HALOGEN_INLINE static Float load(const float* from) { return _mm512_loadu_ps(from); }
  HALOGEN_INLINE static Float load(const float* from, int64_t count) {
    return _mm512_maskz_loadu_ps(first(count), from);
  }
  HALOGEN_INLINE static void store(float* to, Float value) { _mm512_storeu_ps(to, value); }
  HALOGEN_INLINE static void store(float* to, Float value, int64_t count) {
    _mm512_mask_storeu_ps(to, first(count), value);
  }
  // Halves and the upper halves of floats (BF16).
  HALOGEN_INLINE static Float load_half(const uint16_t* from) {
    return _mm512_cvtph_ps(_mm256_loadu_si256(reinterpret_cast<const __m256i*>(from)));
  }
  HALOGEN_INLINE static Float load_half(const uint16_t* from, int64_t count) {
    return _mm512_cvtph_ps(_mm256_maskz_loadu_epi16(first(count), from));
  }
  HALOGEN_INLINE static void store_half(uint16_t* to, Float value, int64_t count) {
    _mm256_mask_storeu_epi16(to, first(count), _mm512_cvtps_ph(value, _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC));
  }
  HALOGEN_INLINE static Float load_upper(const uint16_t* from) {
    const __m512i wide = _mm512_cvtepu16_epi32(_mm256_loadu_si256(reinterpret_cast<const __m256i*>(from)));
    return _mm512_castsi512_ps(_mm512_slli_epi32(wide, 16));
  }
  HALOGEN_INLINE static Float load_upper(const uint16_t* from, int64_t count) {
    const __m512i wide = _mm512_cvtepu16_epi32(_mm256_maskz_loadu_epi16(first(count), from));
    return _mm512_castsi512_ps(_mm512_slli_epi32(wide, 16));
  }
  // Rounded to nearest even; a NaN stays one.
  HALOGEN_INLINE static void store_upper(uint16_t* to, Float value, int64_t count) {
    const __m512i bits = _mm512_castps_si512(value);
    const __m512i odd = _mm512_and_si512(_mm512_srli_epi32(bits, 16), _mm512_set1_epi32(1));
    const __m512i rounded = _mm512_add_epi32(bits, _mm512_add_epi32(odd, _mm512_set1_epi32(0x7fff)));
    const __mmask16 none = _mm512_cmp_ps_mask(value, value, _CMP_UNORD_Q);
    const __m512i kept = _mm512_mask_or_epi32(rounded, none, bits, _mm512_set1_epi32(0x400000));
    _mm256_mask_storeu_epi16(to, first(count), _mm512_cvtepi32_epi16(_mm512_srli_epi32(kept, 16)));
  }
  HALOGEN_INLINE static Float load_signed_bytes(const uint8_t* from, int64_t count) {
    return _mm512_cvtepi32_ps(_mm512_cvtepi8_epi32(_mm_maskz_loadu_epi8(first(count), from)));
  }
  // Rounded to nearest even, saturated.
  HALOGEN_INLINE static void store_signed_bytes(int8_t* to, Float value, int64_t count) {
    _mm_mask_storeu_epi8(to, first(count), _mm512_cvtsepi32_epi8(_mm512_cvtps_epi32(value)));
  }
  HALOGEN_INLINE static Float load_signed_bytes(const uint8_t* from) {
    return _mm512_cvtepi32_ps(_mm512_cvtepi8_epi32(_mm_loadu_si128(reinterpret_cast<const __m128i*>(from))));
  }
  // The low, then the high nibbles of kLanes bytes.
  HALOGEN_INLINE static void load_nibbles(const uint8_t* from, Float& low, Float& high) {
    const __m512i bytes = _mm512_cvtepu8_epi32(_mm_loadu_si128(reinterpret_cast<const __m128i*>(from)));
    low = _mm512_cvtepi32_ps(_mm512_and_si512(bytes, _mm512_set1_epi32(15)));
    high = _mm512_cvtepi32_ps(_mm512_srli_epi32(bytes, 4));
  }

  HALOGEN_INLINE static Float add(Float a, Float b) { return _mm512_add_ps(a, b); }
  HALOGEN_INLINE static Float subtract(Float a, Float b) { return _mm512_sub_ps(a, b); }
  HALOGEN_INLINE static Float multiply(Float a, Float b) { return _mm512_mul_ps(a, b); }
  HALOGEN_INLINE static Float divide(Float a, Float b) { return _mm512_div_ps(a, b); }
  HALOGEN_INLINE static Float maximum(Float a, Float b) { return _mm512_max_ps(a, b); }
  HALOGEN_INLINE static Float multiply_add(Float a, Float b, Float c) { return _mm512_fmadd_ps(a, b, c); }
  // a * b - c in even lanes, a * b + c in odd ones.
  HALOGEN_INLINE static Float multiply_alternate(Float a, Float b, Float c) { return _mm512_fmaddsub_ps(a, b, c); }
  HALOGEN_INLINE static float sum(Float value) { return _mm512_reduce_add_ps(value); }
  HALOGEN_INLINE static Float magnitude(Float value) { return _mm512_abs_ps(value); }
  HALOGEN_INLINE static float largest(Float value) { return _mm512_reduce_max_ps(value); }

  HALOGEN_INLINE static Float swap_pairs(Float value) { return _mm512_permute_ps(value, 0xb1); }
  // Lanes i and i + H, for every i without bit H, become their sum and difference.
  template <int H>
  HALOGEN_INLINE static Float butterfly(Float value) {
    constexpr __mmask16 upper = H == 1 ? 0xaaaa : H == 2 ? 0xcccc : H == 4 ? 0xf0f0 : 0xff00;
    Float other;
    if constexpr (H == 1) other = _mm512_permute_ps(value, 0xb1);
    if constexpr (H == 2) other = _mm512_permute_ps(value, 0x4e);
    if constexpr (H == 4) other = _mm512_shuffle_f32x4(value, value, 0xb1);
    if constexpr (H == 8) other = _mm512_shuffle_f32x4(value, value, 0x4e);
    return _mm512_mask_sub_ps(_mm512_add_ps(value, other), upper, other, value);
  }
  // Each of kLanes / 2 floats twice.
  HALOGEN_INLINE static Float load_doubled(const float* from) {
    const __m512i index = _mm512_setr_epi32(0, 0, 1, 1, 2, 2, 3, 3, 4, 4, 5, 5, 6, 6, 7, 7);
    return _mm512_permutexvar_ps(index, _mm512_castps256_ps512(_mm256_loadu_ps(from)));
  }
  // value in lanes [begin, end), else other.
  HALOGEN_INLINE static Float keep(Float value, int64_t begin, int64_t end, Float other) {
    const uint32_t low = begin <= 0 ? 0 : begin >= kLanes ? 0xffffu : (1u << begin) - 1;
    const uint32_t high = end <= 0 ? 0 : end >= kLanes ? 0xffffu : (1u << end) - 1;
    return _mm512_mask_blend_ps(static_cast<__mmask16>(high & ~low), other, value);
  }

  HALOGEN_INLINE static Int zero_int() { return _mm512_setzero_si512(); }
  HALOGEN_INLINE static Int set_int(int32_t value) { return _mm512_set1_epi32(value); }
  HALOGEN_INLINE static Int load_int(const int32_t* from) { return _mm512_loadu_si512(from); }
  HALOGEN_INLINE static void store_int(int32_t* to, Int value) { _mm512_storeu_si512(to, value); }
  HALOGEN_INLINE static Int to_int(Float value) { return _mm512_cvtps_epi32(value); }
  HALOGEN_INLINE static Float to_float(Int value) { return _mm512_cvtepi32_ps(value); }
  HALOGEN_INLINE static Int as_int(Float value) { return _mm512_castps_si512(value); }
  HALOGEN_INLINE static Float as_float(Int value) { return _mm512_castsi512_ps(value); }
  // The low halves of both as pairs.
  HALOGEN_INLINE static Int pair(Int low, Int high) {
    return _mm512_mask_blend_epi16(0xaaaaaaaau, low, _mm512_slli_epi32(high, 16));
  }
  // sum + a.low * b.low + a.high * b.high
  HALOGEN_INLINE static Int dot_pairs(Int sum, Int a, Int b) { return _mm512_dpwssd_epi32(sum, a, b); }

  HALOGEN_INLINE static Float exp2(Float x) {
    const Float whole = _mm512_roundscale_ps(x, _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC);
    const Float part =
        _mm512_sub_ps(_mm512_max_ps(_mm512_set1_ps(-200.0f), x), _mm512_max_ps(_mm512_set1_ps(-200.0f), whole));
    Float value = _mm512_set1_ps(kExp2[0]);
    for (int i = 1; i < 7; ++i) value = _mm512_fmadd_ps(value, part, _mm512_set1_ps(kExp2[i]));
    return _mm512_scalef_ps(value, whole);
  }

  // 2^x within 3e-6 of itself, for x <= 0 that is no infinity.
  HALOGEN_INLINE static Float exp2_coarse(Float x) {
    const Float whole = _mm512_roundscale_ps(x, _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC);
    const Float part = _mm512_sub_ps(x, whole);
    Float value = _mm512_set1_ps(kCoarseExp2[0]);
    for (int i = 1; i < 5; ++i) value = _mm512_fmadd_ps(value, part, _mm512_set1_ps(kCoarseExp2[i]));
    return _mm512_scalef_ps(value, whole);
  }

  // Lane i becomes the sum of values[i].
  HALOGEN_INLINE static Float sums(const Float (&values)[kLanes]) { return across<add>(values); }
  HALOGEN_INLINE static Float maxima(const Float (&values)[kLanes]) { return across<maximum>(values); }

  // Rows become columns.
  HALOGEN_INLINE static void transpose(Float (&v)[kLanes]) {
    Float quads[kLanes];
    for (int i = 0; i < 4; ++i) {
      const __m512d a = _mm512_castps_pd(_mm512_unpacklo_ps(v[4 * i], v[4 * i + 1]));
      const __m512d b = _mm512_castps_pd(_mm512_unpackhi_ps(v[4 * i], v[4 * i + 1]));
      const __m512d c = _mm512_castps_pd(_mm512_unpacklo_ps(v[4 * i + 2], v[4 * i + 3]));
      const __m512d d = _mm512_castps_pd(_mm512_unpackhi_ps(v[4 * i + 2], v[4 * i + 3]));
      quads[i] = _mm512_castpd_ps(_mm512_unpacklo_pd(a, c));
      quads[4 + i] = _mm512_castpd_ps(_mm512_unpackhi_pd(a, c));
      quads[8 + i] = _mm512_castpd_ps(_mm512_unpacklo_pd(b, d));
      quads[12 + i] = _mm512_castpd_ps(_mm512_unpackhi_pd(b, d));
    }
    for (int i = 0; i < 4; ++i) {
      const Float* q = quads + 4 * i;
      const Float a = _mm512_shuffle_f32x4(q[0], q[1], 0x88), b = _mm512_shuffle_f32x4(q[0], q[1], 0xdd);
      const Float c = _mm512_shuffle_f32x4(q[2], q[3], 0x88), d = _mm512_shuffle_f32x4(q[2], q[3], 0xdd);
      v[i] = _mm512_shuffle_f32x4(a, c, 0x88);
      v[4 + i] = _mm512_shuffle_f32x4(b, d, 0x88);
      v[8 + i] = _mm512_shuffle_f32x4(a, c, 0xdd);
      v[12 + i] = _mm512_shuffle_f32x4(b, d, 0xdd);
    }
  }

 private:
  // Lane i becomes all lanes of values[i] joined.
  template <Float (*join)(Float, Float)>
  HALOGEN_INLINE static Float across(const Float (&values)[kLanes]) {
    Float quads[4];
    for (int i = 0; i < 4; ++i) {
      const Float* v = values + 4 * i;
      const Float low = join(_mm512_unpacklo_ps(v[0], v[1]), _mm512_unpackhi_ps(v[0], v[1]));
      const Float high = join(_mm512_unpacklo_ps(v[2], v[3]), _mm512_unpackhi_ps(v[2], v[3]));
      const __m512d left = _mm512_castps_pd(low), right = _mm512_castps_pd(high);
      quads[i] =
          join(_mm512_castpd_ps(_mm512_unpacklo_pd(left, right)), _mm512_castpd_ps(_mm512_unpackhi_pd(left, right)));
    }
    return fold<join>(fold<join>(quads[0], quads[1]), fold<join>(quads[2], quads[3]));
  }
  template <Float (*join)(Float, Float)>
  HALOGEN_INLINE static Float fold(Float a, Float b) {
    return join(_mm512_shuffle_f32x4(a, b, 0x88), _mm512_shuffle_f32x4(a, b, 0xdd));
  }
  // The same for 2^x within 3e-6, smallest largest error.
  static constexpr float kCoarseExp2[5] = {9.570101908e-3f, 5.591786032e-2f, 2.402474483e-1f, 6.931218147e-1f,
                                           9.999992614e-1f};
  // 2^x on [-1/2, 1/2], highest power first.
  static constexpr float kExp2[7] = {1.5403530e-4f, 1.3333558e-3f, 9.6181291e-3f, 5.5504109e-2f,
                                     2.4022651e-1f, 6.9314718e-1f, 1.0f};
};

}  // namespace
}  // namespace halogen::kernel::avx512
