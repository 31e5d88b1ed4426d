// Softmax attention over pages in one pass: the running maximum rescales what was summed so far. Sums are double.
#include <algorithm>
#include <cmath>
#include <limits>

#include "half.h"
#include "kernel_table.h"

namespace halogen::kernel::reference {
namespace {

constexpr int64_t most_run = 256;

struct F32 {
  using Element = float;
  static float load(float value) { return value; }
  static float store(float value) { return value; }
};

struct F16 {
  using Element = uint16_t;
  static float load(uint16_t value) { return float_from_half(value); }
  static uint16_t store(float value) { return half_from_float(value); }
};

struct BF16 {
  using Element = uint16_t;
  static float load(uint16_t value) { return float_from_bfloat16(value); }
  static uint16_t store(float value) { return bfloat16_from_float(value); }
};

struct Q8 {
  using Element = int8_t;
  static float load(int8_t value) { return static_cast<float>(value); }
  static int8_t store(float value) {
    const float whole = std::nearbyint(value);
    return whole >= -127 && whole <= 127 ? static_cast<int8_t>(whole) : int8_t{-128};
  }
};

template <typename Kv>
constexpr bool scaled = std::is_same_v<Kv, Q8>;

int64_t scales_at(int64_t page_tokens, int64_t head_dim) {
  return (page_tokens * head_dim + 63) / 64 * 64;
}

template <typename Kv>
size_t page_bytes(int64_t head_dim, int64_t page_tokens) {
  if (scaled<Kv>) return static_cast<size_t>(scales_at(page_tokens, head_dim)) + static_cast<size_t>(page_tokens) * 4;
  return static_cast<size_t>(page_tokens * head_dim) * sizeof(typename Kv::Element);
}

// Row `slot` of a page of keys or values, as floats.
template <typename Kv>
struct Row {
  Row(const void* page, int64_t slot, int64_t page_tokens, int64_t head_dim)
      : elements(static_cast<const typename Kv::Element*>(page) + slot * head_dim) {
    if (!scaled<Kv>) return;
    scale = load<float>(static_cast<const uint8_t*>(page) + scales_at(page_tokens, head_dim) + slot * 4);
  }
  double operator[](int64_t i) const { return static_cast<double>(scale) * static_cast<double>(Kv::load(elements[i])); }
  const typename Kv::Element* elements;
  float scale = 1;
};

// The query and the accumulator of one head, in double.
size_t scratch_bytes(int64_t head_dim, int64_t, int64_t, int64_t) {
  return 2 * static_cast<size_t>(head_dim) * sizeof(double);
}

// The rotation of Q8_0 rows, in runs of n; its own inverse.
int64_t run_of(int64_t head_dim) {
  return std::min(head_dim & -head_dim, most_run);
}

void rotate(double* x, int64_t count, int64_t n) {
  for (int64_t begin = 0; begin < count; begin += n) {
    for (int64_t step = 1; step < n; step *= 2) {
      for (int64_t i = 0; i < n; ++i) {
        if ((i & step) != 0) continue;
        const double a = x[begin + i], b = x[begin + i + step];
        x[begin + i] = a + b;
        x[begin + i + step] = a - b;
      }
    }
    for (int64_t i = 0; i < n; ++i) x[begin + i] /= std::sqrt(static_cast<double>(n));
  }
}

template <typename Kv>
void run(const AttentionRun& run) {
  double* sums = reinterpret_cast<double*>(run.scratch);
  double* query = sums + run.head_dim;
  for (int64_t t = 0; t < run.tokens; ++t) {
    const int64_t last = run.position + t;
    const int64_t first = run.window > 0 && last + 1 > run.window ? last + 1 - run.window : 0;
    for (int64_t h = 0; h < run.group; ++h) {
      for (int64_t i = 0; i < run.head_dim; ++i)
        query[i] = static_cast<double>(run.query[t * run.query_stride + h * run.head_dim + i]);
      if (scaled<Kv>) rotate(query, run.head_dim, run_of(run.head_dim));
      double highest = -std::numeric_limits<double>::infinity();
      double weight_sum = 0;
      if (run.sinks != nullptr) {
        highest = static_cast<double>(run.sinks[h]);
        weight_sum = 1;
      }
      for (int64_t i = 0; i < run.head_dim; ++i) sums[i] = 0;
      for (int64_t p = std::max(first, run.key_begin); p <= last && p < run.key_end; ++p) {
        const int64_t slot = p % run.page_tokens;
        const Row<Kv> key(run.key_pages[p / run.page_tokens], slot, run.page_tokens, run.head_dim);
        const Row<Kv> value(run.value_pages[p / run.page_tokens], slot, run.page_tokens, run.head_dim);
        double score = 0;
        for (int64_t i = 0; i < run.head_dim; ++i) score += query[i] * key[i];
        score *= static_cast<double>(run.scale);
        if (score > highest) {
          const double shrink = std::exp(highest - score);
          weight_sum *= shrink;
          for (int64_t i = 0; i < run.head_dim; ++i) sums[i] *= shrink;
          highest = score;
        }
        const double weight = std::exp(score - highest);
        weight_sum += weight;
        for (int64_t i = 0; i < run.head_dim; ++i) sums[i] += weight * value[i];
      }
      if (scaled<Kv>) rotate(sums, run.head_dim, run_of(run.head_dim));
      float* out = run.out + t * run.out_stride + h * run.head_dim;
      const double divisor = run.part == nullptr ? weight_sum : 1;
      for (int64_t i = 0; i < run.head_dim; ++i) out[i] = static_cast<float>(sums[i] / divisor);
      if (run.part == nullptr) continue;
      float* part = run.part + 2 * (t * run.group + h);
      part[0] = std::max(static_cast<float>(highest * 1.4426950408889634), -3.0e38f);
      part[1] = static_cast<float>(weight_sum);
    }
  }
}

template <typename Kv>
void store(const float* x, void* page, int64_t slot, int64_t, int64_t head_dim) {
  auto* row = static_cast<typename Kv::Element*>(page) + slot * head_dim;
  for (int64_t i = 0; i < head_dim; ++i) row[i] = Kv::store(x[i]);
}

template <>
void store<Q8>(const float* x, void* page, int64_t slot, int64_t page_tokens, int64_t head_dim) {
  const int64_t n = run_of(head_dim);
  double rotated[most_run];
  const auto each = [&](auto&& use) {
    for (int64_t begin = 0; begin < head_dim; begin += n) {
      for (int64_t i = 0; i < n; ++i) rotated[i] = static_cast<double>(x[begin + i]);
      rotate(rotated, n, n);
      for (int64_t i = 0; i < n; ++i) use(begin + i, rotated[i]);
    }
  };
  double peak = 0;
  each([&](int64_t, double value) { peak = std::fabs(value) > peak ? std::fabs(value) : peak; });
  const float scale = static_cast<float>(peak / 127);
  std::memcpy(static_cast<uint8_t*>(page) + scales_at(page_tokens, head_dim) + slot * 4, &scale, sizeof scale);
  auto* row = static_cast<int8_t*>(page) + slot * head_dim;
  each([&](int64_t i, double value) { row[i] = Q8::store(peak > 0 ? static_cast<float>(value * 127 / peak) : 0.0f); });
}

}  // namespace

const Attention attention_f32 = {page_bytes<F32>, scratch_bytes, run<F32>};
const Attention attention_f16 = {page_bytes<F16>, scratch_bytes, run<F16>};
const Attention attention_bf16 = {page_bytes<BF16>, scratch_bytes, run<BF16>};
const Attention attention_q8_0 = {page_bytes<Q8>, scratch_bytes, run<Q8>};

void kv_store_f32(const float* x, void* page, int64_t slot, int64_t page_tokens, int64_t head_dim) {
  store<F32>(x, page, slot, page_tokens, head_dim);
}

void kv_store_f16(const float* x, void* page, int64_t slot, int64_t page_tokens, int64_t head_dim) {
  store<F16>(x, page, slot, page_tokens, head_dim);
}

void kv_store_bf16(const float* x, void* page, int64_t slot, int64_t page_tokens, int64_t head_dim) {
  store<BF16>(x, page, slot, page_tokens, head_dim);
}

void kv_store_q8_0(const float* x, void* page, int64_t slot, int64_t page_tokens, int64_t head_dim) {
  store<Q8>(x, page, slot, page_tokens, head_dim);
}

}  // namespace halogen::kernel::reference
