// Attention over paged keys and values with a running softmax, written once over a variant's Vector.
// Few query rows read keys and values in place; many share a copy of each block of keys: transposed floats for F32,
// pairs of 16-bit integers for the other types.
#pragma once
#include "kernels/cpu/attention_pair.h"

namespace halogen::kernel {

template <class V, class Kv>
struct PagedAttention {
  static constexpr int64_t kKeys = 64;  // keys per block: scores of a row stay in registers
  using Rows = AttentionRows<V, Kv, kKeys>;
  using Keys = typename Rows::Keys;
  using Float = typename V::Float;
  using Element = typename Kv::Element;
  using Page = KvPage<V, Kv>;
  using Pairs = PairAttention<V, Kv>;
  static constexpr bool kExact = sizeof(Element) == sizeof(float);  // F32 keeps every product in float
  static constexpr int64_t kLanes = V::kLanes;
  static constexpr int64_t kRows = V::kRegisters / 4;  // query rows multiplied at once
  static constexpr int64_t kChunkRows = 96;            // query rows that share one copy of a key block
  static constexpr int64_t kFew = 4;                   // up to here keys are read in place

  // Scratch: queries | sums | keys, transposed | values | scores | largest | totals, all padded to whole vectors.
  struct Scratch {
    float *query, *sum, *key, *value, *score, *largest, *total;
    int64_t width;  // head_dim rounded up to whole vectors
    Scratch(float* base, int64_t head_dim) : query(base), width(round_up(head_dim, kLanes)) {
      sum = query + kChunkRows * width;
      key = sum + kChunkRows * width;
      value = key + kKeys * width;
      score = value + kKeys * width;
      largest = score + kChunkRows * kKeys;
      total = largest + kChunkRows;
    }
    static size_t bytes(int64_t head_dim) {
      const int64_t width = round_up(head_dim, kLanes);
      return static_cast<size_t>(2 * kChunkRows * width + 2 * kKeys * width + kChunkRows * (kKeys + 2)) * sizeof(float);
    }
  };

  static size_t scratch_bytes(int64_t head_dim, int64_t, int64_t, int64_t) {
    const size_t own = Scratch::bytes(head_dim), pairs = kExact ? 0 : Pairs::scratch_bytes(head_dim);
    return own > pairs ? own : pairs;
  }

  static void run(const AttentionRun& run) {
    const Scratch scratch(run.scratch, run.head_dim);
    const int64_t rows = run.tokens * run.group;
    // Twice as many still read keys in place, in two turns: a copy would cost more.
    const int64_t most = rows <= 2 * kFew ? kFew : kExact ? kChunkRows : Pairs::kChunkRows;
    for (int64_t row = 0; row < rows; row += most) {
      const int64_t count = rows - row < most ? rows - row : most;
      if constexpr (!kExact) {
        if (rows > 2 * kFew) {
          Pairs::run_chunk(run, row, count);
          continue;
        }
      }
      run_chunk(run, scratch, row, count);
    }
  }

  static constexpr Attention face() { return Attention{Page::bytes, scratch_bytes, run}; }

 private:
  static void run_chunk(const AttentionRun& run, const Scratch& scratch, int64_t row, int64_t rows) {
    const bool few = rows <= kFew;
    const int64_t padded = few ? rows : round_up(rows, kRows);
    load_queries(run, scratch, row, rows, padded, few);
    for (int64_t i = 0; i < padded; ++i) Rows::begin_row(run, row + i, scratch.largest[i], scratch.total[i]);
    std::memset(scratch.sum, 0, static_cast<size_t>(padded * scratch.width) * sizeof(float));
    const auto [begin, end] = Rows::span(run, row, rows);
    for (int64_t key = begin; key < end;) {
      const Keys keys = Rows::keys_at(run, key, end);
      key += keys.count;
      if (few) {
        if (key < end) prefetch(run, key);
        block_few(run, scratch, keys, row, rows);
      } else if constexpr (kExact) {
        block_many(run, scratch, keys, row, rows);
      }
    }
    for (int64_t i = 0; i < rows; ++i) {
      Rows::end_row(run, row + i, scratch.sum + i * scratch.width, scratch.largest[i], scratch.total[i]);
    }
  }

  // A block of keys and values ahead: pages are too short for the processor's own prefetch.
  HALOGEN_INLINE static void prefetch(const AttentionRun& run, int64_t key) {
    const Keys next = Rows::keys_at(run, key, key + kKeys);
    const int64_t bytes = next.count * run.head_dim * static_cast<int64_t>(sizeof(Element));
    for (const Element* part : {next.key, next.value}) {
      for (int64_t at = 0; at < bytes; at += 64) __builtin_prefetch(reinterpret_cast<const char*>(part) + at);
    }
  }

  // Scaled to powers of two. Few rows: query[row][width]; many: query[row / kRows][head_dim][kRows], absent rows zero.
  static void load_queries(const AttentionRun& run, const Scratch& scratch, int64_t row, int64_t rows, int64_t padded,
                           bool few) {
    const float scale = run.scale * kLog2E;
    std::memset(scratch.query, 0, static_cast<size_t>(padded * scratch.width) * sizeof(float));
    for (int64_t i = 0; i < rows; ++i) {
      const float* from = Rows::query(run, row + i);
      float* to =
          few ? scratch.query + i * scratch.width : scratch.query + i / kRows * kRows * scratch.width + i % kRows;
      const int64_t step = few ? 1 : kRows;
      for (int64_t at = 0; at < run.head_dim; ++at) to[at * step] = from[at] * scale;
      if constexpr (Kv::kScaled) Hadamard<V>::apply(to, run.head_dim, Hadamard<V>::run_of(run.head_dim));
    }
  }

  // The running softmax of one row over the scores of a block: scores become weights, the sum so far is rescaled.
  HALOGEN_INLINE static void soften(const AttentionRun& run, const Scratch& scratch, const Keys& keys,
                                    int64_t chunk_row, int64_t i) {
    const typename Rows::Sight sight(run, keys, chunk_row + i);
    float* score = scratch.score + i * kKeys;
    Float values[kKeys / kLanes];
    Float most = V::set(scratch.largest[i]);
    for (int64_t k = 0; k < kKeys / kLanes; ++k) {
      values[k] = V::load(score + k * kLanes);
      if constexpr (Kv::kScaled) values[k] = V::multiply(values[k], load_scales(keys.key_scale, keys, k));
      values[k] = sight.mask(values[k], k * kLanes, -__builtin_inff());
      most = V::maximum(most, values[k]);
    }
    const float largest = V::largest(most);
    const Float base = V::set(largest);
    Float total = V::zero();
    for (int64_t k = 0; k < kKeys / kLanes; ++k) {
      Float weight = V::exp2(V::subtract(values[k], base));
      total = V::add(total, weight);
      if constexpr (Kv::kScaled) weight = V::multiply(weight, load_scales(keys.value_scale, keys, k));
      V::store(score + k * kLanes, weight);
    }
    if (largest != scratch.largest[i]) {
      const Float factor = V::exp2(V::set(scratch.largest[i] - largest));
      float first[kLanes];
      V::store(first, factor);
      scratch.total[i] *= first[0];
      float* sum = scratch.sum + i * scratch.width;
      for (int64_t at = 0; at < scratch.width; at += kLanes) V::store(sum + at, V::multiply(V::load(sum + at), factor));
      scratch.largest[i] = largest;
    }
    scratch.total[i] += V::sum(total);
  }

  // Vector k of a block's scales; zero beyond the block, which may end with its page.
  HALOGEN_INLINE static Float load_scales(const float* scales, const Keys& keys, int64_t k) {
    const int64_t left = keys.count - k * kLanes;
    if (left >= kLanes) return V::load(scales + k * kLanes);
    return left > 0 ? V::load(scales + k * kLanes, left) : V::zero();
  }

  // Scores of R rows with kLanes keys, read in place.
  template <int R>
  HALOGEN_INLINE static void score_few(const AttentionRun& run, const Scratch& scratch, const Element* keys,
                                       int64_t first, int64_t count) {
    Float partial[R][kLanes];
    for (int64_t lane = 0; lane < kLanes; ++lane) {
      // Lanes beyond the block repeat its last key; the softmax masks them.
      const int64_t at_key = first + lane < count ? first + lane : count - 1;
      const Element* key = keys + at_key * run.head_dim;
      for (int r = 0; r < R; ++r) partial[r][lane] = V::zero();
      for (int64_t at = 0; at < run.head_dim; at += kLanes) {
        const Float part = Rows::load_part(key, at, run.head_dim);
        for (int r = 0; r < R; ++r) {
          partial[r][lane] = V::multiply_add(part, V::load(scratch.query + r * scratch.width + at), partial[r][lane]);
        }
      }
    }
    for (int r = 0; r < R; ++r) V::store(scratch.score + r * kKeys + first, V::sums(partial[r]));
  }

  // sum[row] += weight[row][key] * value[key] for R rows and N vectors of the head, values in place or copied.
  template <int R, int N, class Load>
  HALOGEN_INLINE static void accumulate(const Scratch& scratch, int64_t row, int64_t at, int64_t count,
                                        const Load& load) {
    Float sum[R][N];
    float* to = scratch.sum + row * scratch.width + at;
    const float* weight = scratch.score + row * kKeys;
    for (int r = 0; r < R; ++r) {
      for (int n = 0; n < N; ++n) sum[r][n] = V::load(to + r * scratch.width + n * kLanes);
    }
    for (int64_t key = 0; key < count; ++key) {
      Float value[N];
      for (int n = 0; n < N; ++n) value[n] = load(key, at + n * kLanes);
      for (int r = 0; r < R; ++r) {
        const Float factor = V::set(weight[r * kKeys + key]);
        for (int n = 0; n < N; ++n) sum[r][n] = V::multiply_add(factor, value[n], sum[r][n]);
      }
    }
    for (int r = 0; r < R; ++r) {
      for (int n = 0; n < N; ++n) V::store(to + r * scratch.width + n * kLanes, sum[r][n]);
    }
  }

  template <int R, class Load>
  HALOGEN_INLINE static void accumulate_rows(const Scratch& scratch, int64_t row, int64_t count, const Load& load) {
    constexpr int kWide = V::kRegisters / 8;
    int64_t at = 0;
    for (; at + kWide * kLanes <= scratch.width; at += kWide * kLanes) {
      accumulate<R, kWide>(scratch, row, at, count, load);
    }
    for (; at < scratch.width; at += kLanes) accumulate<R, 1>(scratch, row, at, count, load);
  }

  template <int R>
  static void rows_few(const AttentionRun& run, const Scratch& scratch, const Keys& keys, int64_t row) {
    for (int64_t first = 0; first < keys.count; first += kLanes)
      score_few<R>(run, scratch, keys.key, first, keys.count);
    for (int64_t i = 0; i < R; ++i) soften(run, scratch, keys, row, i);
    accumulate_rows<R>(scratch, 0, keys.count, [&](int64_t at_key, int64_t at) {
      return Rows::load_part(keys.value + at_key * run.head_dim, at, run.head_dim);
    });
  }

  static void block_few(const AttentionRun& run, const Scratch& scratch, const Keys& keys, int64_t row, int64_t rows) {
    switch (rows) {
      case 1:
        return rows_few<1>(run, scratch, keys, row);
      case 2:
        return rows_few<2>(run, scratch, keys, row);
      case 3:
        return rows_few<3>(run, scratch, keys, row);
      default:
        return rows_few<4>(run, scratch, keys, row);
    }
  }

  // key[head_dim][kKeys], absent keys zero; value[kKeys][width].
  static void copy_block(const AttentionRun& run, const Scratch& scratch, const Keys& keys) {
    const int64_t count = keys.count;
    for (int64_t first = 0; first < kKeys; first += kLanes) {
      for (int64_t at = 0; at < scratch.width; at += kLanes) {
        Float square[kLanes];
        for (int64_t lane = 0; lane < kLanes; ++lane) {
          square[lane] = first + lane < count
                             ? Rows::load_part(keys.key + (first + lane) * run.head_dim, at, run.head_dim)
                             : V::zero();
        }
        V::transpose(square);
        for (int64_t lane = 0; lane < kLanes; ++lane) V::store(scratch.key + (at + lane) * kKeys + first, square[lane]);
      }
    }
    for (int64_t i = 0; i < count; ++i) {
      for (int64_t at = 0; at < scratch.width; at += kLanes) {
        V::store(scratch.value + i * scratch.width + at,
                 Rows::load_part(keys.value + i * run.head_dim, at, run.head_dim));
      }
    }
  }

  static void block_many(const AttentionRun& run, const Scratch& scratch, const Keys& keys, int64_t chunk_row,
                         int64_t rows) {
    copy_block(run, scratch, keys);
    for (int64_t row = 0; row < rows; row += kRows) {
      const int64_t last = row + kRows < rows ? row + kRows - 1 : rows - 1;
      if (!Rows::visible(run, keys, chunk_row + row, chunk_row + last)) continue;
      for (int64_t first = 0; first < kKeys; first += 2 * kLanes) score_many(run, scratch, row, first);
      for (int64_t i = row; i <= last; ++i) soften(run, scratch, keys, chunk_row, i);
      // Absent rows have had no softmax: their scores are products of zero, their sums are never read.
      for (int64_t part = row; part < row + kRows; part += kRows / 2) {
        accumulate_rows<kRows / 2>(scratch, part, keys.count, [&](int64_t at_key, int64_t at) {
          return V::load(scratch.value + at_key * scratch.width + at);
        });
      }
    }
  }

  // Scores of kRows rows with two vectors of keys.
  static void score_many(const AttentionRun& run, const Scratch& scratch, int64_t row, int64_t first) {
    Float sum[kRows][2];
    for (auto& pair : sum) pair[0] = pair[1] = V::zero();
    const float* query = scratch.query + row * scratch.width;
    const float* key = scratch.key + first;
    for (int64_t at = 0; at < run.head_dim; ++at) {
      const Float left = V::load(key), right = V::load(key + kLanes);
      for (int64_t r = 0; r < kRows; ++r) {
        const Float part = V::set(query[r]);
        sum[r][0] = V::multiply_add(part, left, sum[r][0]);
        sum[r][1] = V::multiply_add(part, right, sum[r][1]);
      }
      query += kRows;
      key += kKeys;
    }
    for (int64_t r = 0; r < kRows; ++r) {
      V::store(scratch.score + (row + r) * kKeys + first, sum[r][0]);
      V::store(scratch.score + (row + r) * kKeys + first + kLanes, sum[r][1]);
    }
  }
};

}  // namespace halogen::kernel
