// What every way of computing attention shares: which keys a query row sees, blocks of keys, the results' way out.
// A query row is one (token, head) pair: row = token * group + head.
#pragma once
#include "kernels/cpu/kv.h"

namespace halogen::kernel {

constexpr float kLog2E = 1.44269504f;
// The running maximum before any key: finite, so that its difference to a score is never a NaN.
constexpr float kLeastScore = -3.0e38f;

// B: most keys of a block.
template <class V, class Kv, int64_t B>
struct AttentionRows {
  using Float = typename V::Float;
  using Element = typename Kv::Element;
  using Page = KvPage<V, Kv>;
  static constexpr int64_t kLanes = V::kLanes;

  // Keys [first, first + count) of the context, which lie in one page. Scales: of Q8_0, else null.
  struct Keys {
    int64_t first, count;
    const Element *key, *value;
    const float *key_scale = nullptr, *value_scale = nullptr;
  };

  static Keys keys_at(const AttentionRun& run, int64_t first, int64_t end) {
    const int64_t slot = first % run.page_tokens;
    int64_t count = run.page_tokens - slot < B ? run.page_tokens - slot : B;
    if (end - first < count) count = end - first;
    const void *keys = run.key_pages[first / run.page_tokens], *values = run.value_pages[first / run.page_tokens];
    Keys found{first, count, Page::row(keys, slot, run.head_dim), Page::row(values, slot, run.head_dim)};
    if constexpr (Kv::kScaled) {
      found.key_scale = Page::scales(keys, run.page_tokens, run.head_dim) + slot;
      found.value_scale = Page::scales(values, run.page_tokens, run.head_dim) + slot;
    }
    return found;
  }

  // Keys that any of rows [row, row + rows) sees in this run's part.
  struct Span {
    int64_t begin, end;
  };
  static Span span(const AttentionRun& run, int64_t row, int64_t rows) {
    const int64_t begin = first_key(run, position_of(run, row)), end = position_of(run, row + rows - 1) + 1;
    return {begin < run.key_begin ? run.key_begin : begin, end < run.key_end ? end : run.key_end};
  }

  static int64_t position_of(const AttentionRun& run, int64_t row) { return run.position + row / run.group; }

  static int64_t first_key(const AttentionRun& run, int64_t position) {
    return run.window > 0 && position >= run.window ? position - run.window + 1 : 0;
  }

  // Whether any of rows [row, last] sees any of the keys.
  static bool visible(const AttentionRun& run, const Keys& keys, int64_t row, int64_t last) {
    return keys.first <= position_of(run, last) && keys.first + keys.count > first_key(run, position_of(run, row));
  }

  static const float* query(const AttentionRun& run, int64_t row) {
    return run.query + row / run.group * run.query_stride + row % run.group * run.head_dim;
  }

  // Maximum and total of a row before its first key: those of its sink.
  static void begin_row(const AttentionRun& run, int64_t row, float& largest, float& total) {
    largest = kLeastScore;
    total = 0;
    if (run.sinks == nullptr) return;
    const float sink = run.sinks[row % run.group] * kLog2E;
    if (!(sink < kLeastScore)) largest = sink;
    total = 1;
  }

  static void end_row(const AttentionRun& run, int64_t row, float* sum, float largest, float total) {
    if constexpr (Kv::kScaled) Hadamard<V>::apply(sum, run.head_dim, Hadamard<V>::run_of(run.head_dim));
    const Float inverse = V::set(run.part == nullptr ? 1.0f / total : 1.0f);
    if (run.part != nullptr) {
      run.part[2 * row] = largest;
      run.part[2 * row + 1] = total;
    }
    float* out = run.out + row / run.group * run.out_stride + row % run.group * run.head_dim;
    int64_t at = 0;
    for (; at + kLanes <= run.head_dim; at += kLanes) V::store(out + at, V::multiply(V::load(sum + at), inverse));
    if (at < run.head_dim) V::store(out + at, V::multiply(V::load(sum + at), inverse), run.head_dim - at);
  }

  // Which keys of a block a row sees; `whole`: all B.
  struct Sight {
    int64_t begin, end;
    bool whole;
    Sight(const AttentionRun& run, const Keys& keys, int64_t row) {
      const int64_t position = position_of(run, row);
      end = position + 1 - keys.first < keys.count ? position + 1 - keys.first : keys.count;
      begin = first_key(run, position) - keys.first;
      whole = begin <= 0 && end == B;
    }
    HALOGEN_INLINE Float mask(Float score, int64_t at, float unseen) const {
      return whole ? score : V::keep(score, begin - at, end - at, V::set(unseen));
    }
  };

  HALOGEN_INLINE static Float load_part(const Element* from, int64_t at, int64_t head_dim) {
    return at + kLanes <= head_dim ? Kv::load(from + at) : Kv::load(from + at, head_dim - at);
  }
};

}  // namespace halogen::kernel
