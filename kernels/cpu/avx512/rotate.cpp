// Rotations of pairs: a group's 128 columns stay in eight registers, and partners are looked up among them.
#include "intrinsics.h"
#include "kernel_table.h"

namespace halogen::kernel::avx512 {
namespace {

constexpr int kRegisters = 8, kLanes = 16;

// Columns by index 0..127: two registers at a time, then by the upper two bits of the index.
inline __attribute__((always_inline)) __m512 look_up(const __m512 (&table)[kRegisters], __m512i index) {
  const __m512 a = _mm512_permutex2var_ps(table[0], index, table[1]);
  const __m512 b = _mm512_permutex2var_ps(table[2], index, table[3]);
  const __m512 c = _mm512_permutex2var_ps(table[4], index, table[5]);
  const __m512 d = _mm512_permutex2var_ps(table[6], index, table[7]);
  const __mmask16 odd = _mm512_test_epi32_mask(index, _mm512_set1_epi32(32));
  const __mmask16 upper = _mm512_test_epi32_mask(index, _mm512_set1_epi32(64));
  return _mm512_mask_blend_ps(upper, _mm512_mask_blend_ps(odd, a, b), _mm512_mask_blend_ps(odd, c, d));
}

}  // namespace

void rotate(const float* x, float* out, const Rotation& rotation) {
  for (int64_t begin = 0; begin < rotation.columns; begin += Rotation::group) {
    __m512 now[kRegisters];
    for (int i = 0; i < kRegisters; ++i) {
      const int64_t at = begin + i * kLanes;
      now[i] = _mm512_mul_ps(_mm512_loadu_ps(x + at), _mm512_loadu_ps(rotation.scale + at));
    }
    for (int64_t r = 0; r < rotation.rounds; ++r) {
      __m512 turned[kRegisters];
      for (int i = 0; i < kRegisters; ++i) {
        const int64_t at = r * rotation.columns + begin + i * kLanes;
        const __m512i partner =
            _mm512_cvtepu8_epi32(_mm_loadu_si128(reinterpret_cast<const __m128i*>(rotation.partner + at)));
        const __m512 other = _mm512_mul_ps(look_up(now, partner), _mm512_loadu_ps(rotation.sine + at));
        turned[i] = _mm512_fmadd_ps(now[i], _mm512_loadu_ps(rotation.cosine + at), other);
      }
      for (int i = 0; i < kRegisters; ++i) now[i] = turned[i];
    }
    for (int i = 0; i < kRegisters; ++i) _mm512_storeu_ps(out + begin + i * kLanes, now[i]);
  }
}

}  // namespace halogen::kernel::avx512
