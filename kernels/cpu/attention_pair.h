// Attention of many query rows with products of 16-bit integers, two of them an instruction and lane: twice the rate of
// floats. Each query, key and value row has its own scale, so what is lost lies below what F16 loses in storing keys.
//
// Scores: |q||k| bounds a dot product (Cauchy-Schwarz), so rows scaled to a length of 46,000 sum within 31 bits.
// Results: values have 14 bits and the weights of a block sum to at most 2^18, which again is 31 bits.
#pragma once
#include "kernels/cpu/attention_rows.h"

namespace halogen::kernel {

template <class V, class Kv>
struct PairAttention {
  static constexpr int64_t kKeys = 64;  // keys per block
  using Rows = AttentionRows<V, Kv, kKeys>;
  using Keys = typename Rows::Keys;
  using Float = typename V::Float;
  using Int = typename V::Int;
  using Element = typename Kv::Element;
  static constexpr int64_t kLanes = V::kLanes;
  static constexpr int64_t kSpan = 2 * kLanes;         // elements that one vector of pairs holds: i with i + kLanes
  static constexpr int64_t kRows = V::kRegisters / 4;  // query rows multiplied at once
  static constexpr int64_t kChunkRows = 192;           // query rows that share one copy of a key block
  static constexpr float kLength = 46000.0f;           // of a scaled query or key; its square is below 2^31
  static constexpr float kLargest = 32767.0f;          // of an element or a weight
  static constexpr float kLargestValue = Kv::kScaled ? 127.0f : 8191.0f;
  static constexpr float kMostWeight = 2.146e9f / kLargestValue;  // sum of a block's weights, rounding left out
  static constexpr float kNothing = 1e-30f;                       // a largest weight or element below it counts as zero

  // Integers hold neither infinities nor what is no number: times zero, those go beside them to the result (`poison`).
  // All counts in 32-bit words. width: head_dim in whole spans.
  struct Scratch {
    int64_t width;
    int32_t* query;                        // [row / kRows][width / 2][kRows]
    int32_t* key;                          // [width / 2][kKeys]
    int32_t* value;                        // [kKeys / 2][width]
    int32_t* weight;                       // [kRows][kKeys / 2]
    float* sum;                            // [row][width]
    float *query_scale, *largest, *total;  // [row]
    float* poison;                         // [row] 0, or no number where the row met what is not finite
    float *key_scale, *value_scale;        // [kKeys]
    float* score;                          // [kRows][kKeys]
    float *shrink, *weight_scale, *lane;   // a lane per row: of the sum so far, of the weights, and for passing on

    size_t bytes = 0;

    Scratch(float* base, int64_t head_dim) : width(round_up(head_dim, kSpan)) {
      const auto words = [&](int64_t count) {
        auto* const begin = reinterpret_cast<int32_t*>(reinterpret_cast<uintptr_t>(base) + bytes);
        bytes += static_cast<size_t>(round_up(count, 16)) * sizeof(int32_t);
        return begin;
      };
      const auto floats = [&](int64_t count) { return reinterpret_cast<float*>(words(count)); };
      query = words(kChunkRows * width / 2);
      key = words(kKeys * width / 2);
      value = words(kKeys * width / 2);
      weight = words(kRows * kKeys / 2);
      sum = floats(kChunkRows * width);
      query_scale = floats(kChunkRows);
      largest = floats(kChunkRows);
      total = floats(kChunkRows);
      poison = floats(kChunkRows);
      key_scale = floats(kKeys);
      value_scale = floats(kKeys);
      score = floats(kRows * kKeys);
      shrink = floats(kLanes);
      weight_scale = floats(kLanes);
      lane = floats(kLanes);
    }
  };

  static size_t scratch_bytes(int64_t head_dim) { return Scratch(nullptr, head_dim).bytes; }

  static void run_chunk(const AttentionRun& run, int64_t row, int64_t rows) {
    const Scratch scratch(run.scratch, run.head_dim);
    const int64_t padded = round_up(rows, kRows);
    for (int64_t i = 0; i < padded; ++i) {
      scratch.poison[i] = load_query(run, scratch, row + i, i, i < rows);
      Rows::begin_row(run, row + i, scratch.largest[i], scratch.total[i]);
    }
    std::memset(scratch.sum, 0, static_cast<size_t>(padded * scratch.width) * sizeof(float));
    const auto [begin, end] = Rows::span(run, row, rows);
    for (int64_t key = begin; key < end;) {
      const Keys keys = Rows::keys_at(run, key, end);
      key += keys.count;
      const float poison = load_keys(run, scratch, keys) + load_values(run, scratch, keys);
      float largest_scale = 0;
      for (int64_t k = 0; k < keys.count; ++k) {
        if (scratch.value_scale[k] > largest_scale) largest_scale = scratch.value_scale[k];
      }
      for (int64_t i = 0; i < rows; i += kRows) {
        const int64_t last = i + kRows < rows ? i + kRows - 1 : rows - 1;
        if (!Rows::visible(run, keys, row + i, row + last)) continue;
        for (int64_t first = 0; first < keys.count; first += kSpan) score(scratch, i, first);
        soften(run, scratch, keys, row + i, row + last, i, largest_scale);
        for (int64_t part = 0; part < kRows; part += kRows / 2) accumulate_rows(scratch, i, part, keys.count);
        for (int64_t r = 0; r < kRows; ++r) scratch.poison[i + r] += poison;
      }
    }
    for (int64_t i = 0; i < rows; ++i) {
      Rows::end_row(run, row + i, scratch.sum + i * scratch.width, scratch.largest[i],
                    scratch.total[i] + scratch.poison[i]);
    }
  }

 private:
  // The factor that brings a row of this squared length and peak to length `most` or its peak to the largest element,
  // whichever is less; 0 for a row of nothing.
  HALOGEN_INLINE static float fitting(float square, float peak, float most) {
    if (!(peak > kNothing)) return 0;
    const float length = __builtin_sqrtf(square);
    return length * kLargest < peak * most ? kLargest / peak : most / length;
  }

  HALOGEN_INLINE static float inverse(float factor) { return factor > 0 ? 1.0f / factor : 0.0f; }

  static float load_query(const AttentionRun& run, const Scratch& scratch, int64_t row, int64_t i, bool present) {
    int32_t* to = scratch.query + i / kRows * kRows * scratch.width / 2 + i % kRows;
    scratch.query_scale[i] = 0;
    if (!present) {
      for (int64_t p = 0; p < scratch.width / 2; ++p) to[p * kRows] = 0;
      return 0;
    }
    const float* from = Rows::query(run, row);
    if constexpr (Kv::kScaled) {
      auto* rotated = reinterpret_cast<float*>(scratch.key);  // no key is there yet
      std::memcpy(rotated, from, static_cast<size_t>(run.head_dim) * sizeof(float));
      Hadamard<V>::apply(rotated, run.head_dim, Hadamard<V>::run_of(run.head_dim));
      from = rotated;
    }
    Float squares = V::zero(), peaks = V::zero();
    for (int64_t at = 0; at < run.head_dim; at += kLanes) {
      const Float part = load_floats(from, at, run.head_dim);
      squares = V::multiply_add(part, part, squares);
      peaks = V::maximum(V::magnitude(part), peaks);
    }
    // Bytes make shorter keys, which leave more room to queries.
    const float most =
        Kv::kScaled ? kLength * kLength / (127 * __builtin_sqrtf(static_cast<float>(run.head_dim))) : kLength;
    const float square = V::sum(squares), fit = fitting(square, V::largest(peaks), most);
    scratch.query_scale[i] = inverse(fit) * run.scale * kLog2E;
    const Float factor = V::set(fit);
    for (int64_t at = 0; at < scratch.width; at += kSpan) {
      const Float low = load_floats(from, at, run.head_dim), high = load_floats(from, at + kLanes, run.head_dim);
      int32_t words[kLanes];
      V::store_int(words, V::pair(V::to_int(V::multiply(low, factor)), V::to_int(V::multiply(high, factor))));
      for (int64_t lane = 0; lane < kLanes; ++lane) to[(at / 2 + lane) * kRows] = words[lane];
    }
    return square * 0.0f;
  }

  // Zero beyond the head.
  HALOGEN_INLINE static Float load_floats(const float* from, int64_t at, int64_t head_dim) {
    if (at + kLanes <= head_dim) return V::load(from + at);
    return at < head_dim ? V::load(from + at, head_dim - at) : V::zero();
  }
  HALOGEN_INLINE static Float load_elements(const Element* from, int64_t at, int64_t head_dim) {
    return at < head_dim ? Rows::load_part(from, at, head_dim) : V::zero();
  }

  static float load_keys(const AttentionRun& run, const Scratch& scratch, const Keys& keys) {
    float fits[kKeys];
    float poison = 0;
    for (int64_t i = 0; i < kKeys; ++i) {
      if (i >= keys.count) {
        fits[i] = scratch.key_scale[i] = 0;
      } else if constexpr (Kv::kScaled) {
        fits[i] = 1;
        scratch.key_scale[i] = keys.key_scale[i];
        poison += keys.key_scale[i] * 0.0f;
      } else {
        const Element* from = keys.key + i * run.head_dim;
        Float squares = V::zero(), peaks = V::zero();
        for (int64_t at = 0; at < run.head_dim; at += kLanes) {
          const Float part = Rows::load_part(from, at, run.head_dim);
          squares = V::multiply_add(part, part, squares);
          peaks = V::maximum(V::magnitude(part), peaks);
        }
        const float square = V::sum(squares);
        poison += square * 0.0f;
        fits[i] = fitting(square, V::largest(peaks), kLength);
        scratch.key_scale[i] = inverse(fits[i]);
      }
    }
    for (int64_t first = 0; first < keys.count; first += kLanes) {
      for (int64_t at = 0; at < scratch.width; at += kSpan) {
        Float square[kLanes];
        for (int64_t lane = 0; lane < kLanes; ++lane) {
          const int64_t i = first + lane < keys.count ? first + lane : keys.count - 1;
          const Element* from = keys.key + i * run.head_dim;
          square[lane] = V::as_float(pair_of(from, at, run.head_dim, V::set(fits[i])));
        }
        V::transpose(square);
        for (int64_t lane = 0; lane < kLanes; ++lane) {
          V::store_int(scratch.key + (at / 2 + lane) * kKeys + first, V::as_int(square[lane]));
        }
      }
    }
    return poison;
  }

  HALOGEN_INLINE static Int pair_of(const Element* from, int64_t at, int64_t head_dim, Float factor) {
    Float low = load_elements(from, at, head_dim), high = load_elements(from, at + kLanes, head_dim);
    if constexpr (!Kv::kScaled) {
      low = V::multiply(low, factor);
      high = V::multiply(high, factor);
    }
    return V::pair(V::to_int(low), V::to_int(high));
  }

  static float load_values(const AttentionRun& run, const Scratch& scratch, const Keys& keys) {
    float fits[kKeys];
    float poison = 0;
    for (int64_t i = 0; i < kKeys; ++i) {
      if (i >= keys.count) {
        fits[i] = scratch.value_scale[i] = 0;
      } else if constexpr (Kv::kScaled) {
        fits[i] = 1;
        scratch.value_scale[i] = keys.value_scale[i];
        poison += keys.value_scale[i] * 0.0f;
      } else {
        const Element* from = keys.value + i * run.head_dim;
        Float peaks = V::zero(), nothing = V::zero();
        for (int64_t at = 0; at < run.head_dim; at += kLanes) {
          const Float part = Rows::load_part(from, at, run.head_dim);
          peaks = V::maximum(V::magnitude(part), peaks);
          nothing = V::multiply_add(part, V::zero(), nothing);
        }
        poison += V::sum(nothing);
        const float peak = V::largest(peaks);
        fits[i] = peak > kNothing ? kLargestValue / peak : 0.0f;
        scratch.value_scale[i] = inverse(fits[i]);
      }
    }
    for (int64_t first = 0; first < keys.count; first += kSpan) {
      for (int64_t lane = 0; lane < kLanes; ++lane) {
        int32_t* to = scratch.value + (first / 2 + lane) * scratch.width;
        for (int64_t at = 0; at < scratch.width; at += kLanes) {
          V::store_int(to + at, V::pair(value_of(run, keys, first + lane, at, fits),
                                        value_of(run, keys, first + lane + kLanes, at, fits)));
        }
      }
    }
    return poison;
  }

  HALOGEN_INLINE static Int value_of(const AttentionRun& run, const Keys& keys, int64_t i, int64_t at,
                                     const float* fits) {
    if (i >= keys.count) return V::to_int(V::zero());
    const Float value = load_elements(keys.value + i * run.head_dim, at, run.head_dim);
    return V::to_int(Kv::kScaled ? value : V::multiply(value, V::set(fits[i])));
  }

  // Scores of kRows rows with two vectors of keys.
  HALOGEN_INLINE static void score(const Scratch& scratch, int64_t row, int64_t first) {
    Int sum[kRows][2];
    for (auto& each : sum) each[0] = each[1] = V::zero_int();
    const int32_t* query = scratch.query + row * scratch.width / 2;
    const int32_t* key = scratch.key + first;
    for (int64_t p = 0; p < scratch.width / 2; ++p) {
      const Int left = V::load_int(key), right = V::load_int(key + kLanes);
      for (int64_t r = 0; r < kRows; ++r) {
        const Int part = V::set_int(query[r]);
        sum[r][0] = V::dot_pairs(sum[r][0], part, left);
        sum[r][1] = V::dot_pairs(sum[r][1], part, right);
      }
      query += kRows;
      key += kKeys;
    }
    for (int64_t half = 0; half < 2; ++half) {
      const Float scale = V::load(scratch.key_scale + first + half * kLanes);
      for (int64_t r = 0; r < kRows; ++r) {
        const Float factor = V::multiply(scale, V::set(scratch.query_scale[row + r]));
        V::store(scratch.score + r * kKeys + first + half * kLanes, V::multiply(V::to_float(sum[r][half]), factor));
      }
    }
  }

  // The running softmax of kRows rows over the scores of a block: scores become weights in integers. What needs a sum
  // or maximum of a row is done for all rows at once, a lane each. Rows beyond `last` repeat it and are never read.
  static void soften(const AttentionRun& run, const Scratch& scratch, const Keys& keys, int64_t row, int64_t last,
                     int64_t i, float largest_scale) {
    static_assert(2 * kRows == kLanes);
    Float lanes[kLanes];
    for (int64_t r = 0; r < kRows; ++r) {
      const typename Rows::Sight sight(run, keys, row + r < last ? row + r : last);
      float* score = scratch.score + r * kKeys;
      Float most = V::set(kLeastScore);
      for (int64_t k = 0; k < kKeys; k += kLanes) {
        const Float value = sight.mask(V::load(score + k), k, kLeastScore);
        if (!sight.whole) V::store(score + k, value);
        most = V::maximum(most, value);
      }
      lanes[r] = lanes[r + kRows] = most;
    }
    const Float before = V::load(scratch.largest + i, kRows), block = V::maxima(lanes);
    const Float largest = V::maximum(before, block);
    V::store(scratch.largest + i, largest, kRows);
    const Float shrink = V::exp2_coarse(V::subtract(before, largest));
    V::store(scratch.shrink, shrink);
    // A row that has seen nothing yet has no maximum to be relative to: all its weights become zero.
    V::store(scratch.lane, V::maximum(largest, V::set(-1e30f)));
    for (int64_t r = 0; r < kRows; ++r) {
      float* score = scratch.score + r * kKeys;
      const Float base = V::set(scratch.lane[r]);
      Float total = V::zero(), scaled_total = V::zero();
      for (int64_t k = 0; k < kKeys; k += kLanes) {
        const Float weight = V::exp2_coarse(V::subtract(V::load(score + k), base));
        const Float scaled = V::multiply(weight, V::load(scratch.value_scale + k));
        total = V::add(total, weight);
        scaled_total = V::add(scaled_total, scaled);
        V::store(score + k, scaled);
      }
      lanes[r] = total;
      lanes[r + kRows] = scaled_total;
    }
    V::store(scratch.lane, V::sums(lanes));
    const Float total = V::load(scratch.total + i, kRows);
    V::store(scratch.total + i, V::multiply_add(total, shrink, V::load(scratch.lane, kRows)), kRows);
    // The step between neighbouring weights: bounds of the largest weight, and of all together, must fit.
    const Float peak = V::multiply(V::exp2_coarse(V::subtract(block, largest)), V::set(largest_scale / kLargest));
    const Float together = V::multiply(V::load(scratch.lane + kRows, kRows), V::set(1.0f / kMostWeight));
    const Float step = V::maximum(V::maximum(peak, together), V::set(kNothing));
    V::store(scratch.weight_scale, step);
    V::store(scratch.lane, V::divide(V::set(1.0f), step));
    for (int64_t r = 0; r < kRows; ++r) {
      const float* weight = scratch.score + r * kKeys;
      int32_t* to = scratch.weight + r * kKeys / 2;
      const Float factor = V::set(scratch.lane[r]);
      for (int64_t k = 0; k < kKeys; k += kSpan) {
        V::store_int(to + k / 2, V::pair(V::to_int(V::multiply(V::load(weight + k), factor)),
                                         V::to_int(V::multiply(V::load(weight + k + kLanes), factor))));
      }
    }
  }

  HALOGEN_INLINE static void accumulate_rows(const Scratch& scratch, int64_t row, int64_t part, int64_t count) {
    constexpr int kWide = V::kRegisters / 8;
    int64_t at = 0;
    for (; at + kWide * kLanes <= scratch.width; at += kWide * kLanes) {
      accumulate<kWide>(scratch, row, part, at, count);
    }
    for (; at < scratch.width; at += kLanes) accumulate<1>(scratch, row, part, at, count);
  }

  // sum[row] = sum[row] * shrink + weights * values for half of kRows rows and N vectors of the head.
  template <int N>
  HALOGEN_INLINE static void accumulate(const Scratch& scratch, int64_t row, int64_t part, int64_t at, int64_t count) {
    constexpr int R = kRows / 2;
    Int sum[R][N];
    for (auto& each : sum) {
      for (Int& lanes : each) lanes = V::zero_int();
    }
    const int32_t* weight = scratch.weight + part * kKeys / 2;
    const int32_t* value = scratch.value + at;
    const int64_t pairs = round_up(count, kSpan) / 2;
    for (int64_t p = 0; p < pairs; ++p) {
      Int values[N];
      for (int n = 0; n < N; ++n) values[n] = V::load_int(value + n * kLanes);
      for (int r = 0; r < R; ++r) {
        const Int factor = V::set_int(weight[r * kKeys / 2 + p]);
        for (int n = 0; n < N; ++n) sum[r][n] = V::dot_pairs(sum[r][n], factor, values[n]);
      }
      value += scratch.width;
    }
    for (int r = 0; r < R; ++r) {
      const Float scale = V::set(scratch.weight_scale[part + r]), shrink = V::set(scratch.shrink[part + r]);
      float* to = scratch.sum + (row + part + r) * scratch.width + at;
      for (int n = 0; n < N; ++n) {
        const Float before = V::multiply(V::load(to + n * kLanes), shrink);
        V::store(to + n * kLanes, V::multiply_add(V::to_float(sum[r][n]), scale, before));
      }
    }
  }
};

}  // namespace halogen::kernel
