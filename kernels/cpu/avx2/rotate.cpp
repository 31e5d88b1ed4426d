// Rotations of pairs: partners are gathered from a copy of the group, which stays in the first-level cache.
#include <immintrin.h>

#include "kernel_table.h"

namespace halogen::kernel::avx2 {

void rotate(const float* x, float* out, const Rotation& rotation) {
  constexpr int64_t kLanes = 8;
  for (int64_t begin = 0; begin < rotation.columns; begin += Rotation::group) {
    alignas(32) float buffers[2][Rotation::group];
    for (int64_t i = 0; i < Rotation::group; i += kLanes) {
      _mm256_store_ps(buffers[0] + i,
                      _mm256_mul_ps(_mm256_loadu_ps(x + begin + i), _mm256_loadu_ps(rotation.scale + begin + i)));
    }
    for (int64_t r = 0; r < rotation.rounds; ++r) {
      const float* now = buffers[r % 2];
      float* turned = buffers[(r + 1) % 2];
      const int64_t at = r * rotation.columns + begin;
      for (int64_t i = 0; i < Rotation::group; i += kLanes) {
        const __m256i partner =
            _mm256_cvtepu8_epi32(_mm_loadl_epi64(reinterpret_cast<const __m128i*>(rotation.partner + at + i)));
        const __m256 other =
            _mm256_mul_ps(_mm256_i32gather_ps(now, partner, 4), _mm256_loadu_ps(rotation.sine + at + i));
        _mm256_store_ps(turned + i,
                        _mm256_fmadd_ps(_mm256_load_ps(now + i), _mm256_loadu_ps(rotation.cosine + at + i), other));
      }
    }
    const float* last = buffers[rotation.rounds % 2];
    for (int64_t i = 0; i < Rotation::group; i += kLanes) _mm256_storeu_ps(out + begin + i, _mm256_load_ps(last + i));
  }
}

}  // namespace halogen::kernel::avx2
