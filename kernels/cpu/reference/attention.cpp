// Softmax attention over pages in one pass: the running maximum rescales what was summed so far. Sums are double.
#include <cmath>
#include <limits>

#include "half.h"
#include "kernel_table.h"

namespace halogen::kernel::reference {
namespace {

float as_float(float value) {
  return value;
}
float as_float(uint16_t value) {
  return float_from_half(value);
}

// The accumulator of one head, in double.
size_t scratch_bytes(int64_t head_dim, int64_t, int64_t, int64_t) {
  return static_cast<size_t>(head_dim) * sizeof(double);
}

template <typename Kv>
void run(const AttentionRun& run) {
  double* sums = reinterpret_cast<double*>(run.scratch);
  for (int64_t t = 0; t < run.tokens; ++t) {
    const int64_t last = run.position + t;
    const int64_t first = run.window > 0 && last + 1 > run.window ? last + 1 - run.window : 0;
    for (int64_t h = 0; h < run.group; ++h) {
      const float* query = run.query + t * run.query_stride + h * run.head_dim;
      double highest = -std::numeric_limits<double>::infinity();
      double weight_sum = 0;
      if (run.sinks != nullptr) {
        highest = static_cast<double>(run.sinks[h]);
        weight_sum = 1;
      }
      for (int64_t i = 0; i < run.head_dim; ++i) sums[i] = 0;
      for (int64_t p = first; p <= last; ++p) {
        const int64_t slot = (p % run.page_tokens) * run.head_dim;
        const Kv* key = static_cast<const Kv*>(run.key_pages[p / run.page_tokens]) + slot;
        const Kv* value = static_cast<const Kv*>(run.value_pages[p / run.page_tokens]) + slot;
        double score = 0;
        for (int64_t i = 0; i < run.head_dim; ++i)
          score += static_cast<double>(query[i]) * static_cast<double>(as_float(key[i]));
        score *= static_cast<double>(run.scale);
        if (score > highest) {
          const double shrink = std::exp(highest - score);
          weight_sum *= shrink;
          for (int64_t i = 0; i < run.head_dim; ++i) sums[i] *= shrink;
          highest = score;
        }
        const double weight = std::exp(score - highest);
        weight_sum += weight;
        for (int64_t i = 0; i < run.head_dim; ++i) sums[i] += weight * static_cast<double>(as_float(value[i]));
      }
      float* out = run.out + t * run.out_stride + h * run.head_dim;
      for (int64_t i = 0; i < run.head_dim; ++i) out[i] = static_cast<float>(sums[i] / weight_sum);
    }
  }
}

}  // namespace

const Attention attention_f32 = {scratch_bytes, run<float>};
const Attention attention_f16 = {scratch_bytes, run<uint16_t>};

void kv_store_f32(const float* x, void* slot, int64_t head_dim) {
  std::memcpy(slot, x, static_cast<size_t>(head_dim) * sizeof(float));
}

void kv_store_f16(const float* x, void* slot, int64_t head_dim) {
  uint16_t* out = static_cast<uint16_t*>(slot);
  for (int64_t i = 0; i < head_dim; ++i) out[i] = half_from_float(x[i]);
}

}  // namespace halogen::kernel::reference
