// The gated delta rule and its convolution, written once over a variant's Vector.
#pragma once
#include "kernels/cpu/element.h"

namespace halogen::kernel {

template <class V>
struct Delta {
  using Float = typename V::Float;
  static constexpr int64_t kLanes = V::kLanes;
  static constexpr int kWide = 2;                    // vectors of a column block
  static constexpr int64_t kBlock = kWide * kLanes;  // columns of S that are worked on together
  static constexpr int kRows = V::kRegisters / 4;    // rows of a product tile
  static constexpr int64_t kChunk = 16;              // tokens solved together
  static constexpr int64_t kPair = 2 * kChunk;       // their keys, then their queries
  static constexpr int64_t kLeast = 6;               // fewer tokens go one by one
  static constexpr int64_t kAhead = 12;              // tokens a convolution asks for early
  static constexpr float kLog2E = 1.44269504f;

  // Where the state is not whole column blocks wide, it is worked on in a wider copy.
  struct Place {
    float* state;   // [key_dim][columns]
    float* turned;  // [key_dim][kPair]
    float* mix;     // [kPair][kChunk]
    float* power;   // [kChunk][kChunk]
    float* delta;   // [kChunk][columns]
    float* found;   // [kPair][kBlock]
    float* rows;    // [kPair][columns]
    int64_t columns;
  };

  static Place place(float* scratch, int64_t key_dim, int64_t value_dim, size_t* bytes = nullptr) {
    Place at{};
    at.columns = round_up(value_dim, kBlock);
    const bool wider = at.columns != value_dim;
    int64_t used = 0;
    const auto take = [&](int64_t count) {
      float* begin = scratch != nullptr ? scratch + used : nullptr;
      used += round_up(count, 16);
      return begin;
    };
    at.state = take(wider ? key_dim * at.columns : 0);
    at.turned = take(key_dim * kPair);
    at.mix = take(kPair * kChunk);
    at.power = take(kChunk * kChunk);
    at.delta = take(kChunk * at.columns);
    at.found = take(kPair * kBlock);
    at.rows = take(wider ? kPair * at.columns : 0);
    if (bytes != nullptr) *bytes = static_cast<size_t>(used) * sizeof(float);
    return at;
  }

  static size_t scratch_bytes(int64_t key_dim, int64_t value_dim) {
    size_t bytes = 0;
    place(nullptr, key_dim, value_dim, &bytes);
    return bytes;
  }

  static void run(const DeltaRun& all) {
    Place at = place(all.scratch, all.key_dim, all.value_dim);
    DeltaRun run = all;
    const bool wider = at.columns != all.value_dim;
    if (wider) {
      copy_rows(all.state, all.value_dim, at.state, at.columns, all.key_dim, all.value_dim, true);
    } else {
      at.state = all.state;
    }
    for (int64_t begin = 0; begin < all.tokens; begin += kChunk) {
      const int64_t count = all.tokens - begin < kChunk ? all.tokens - begin : kChunk;
      run.query = all.query + begin * all.key_stride;
      run.key = all.key + begin * all.key_stride;
      run.value = all.value + begin * all.value_stride;
      run.decay = all.decay + begin * all.gate_stride;
      run.beta = all.beta + begin * all.gate_stride;
      run.out = all.out + begin * all.out_stride;
      run.tokens = count;
      if (wider) {
        copy_rows(run.value, run.value_stride, at.rows, at.columns, count, all.value_dim, true);
        run.value = at.rows;
        run.value_stride = run.out_stride = at.columns;
        run.out = at.rows + kChunk * at.columns;
      }
      if (count < kLeast) {
        for (int64_t t = 0; t < count; ++t) step(run, at, t);
      } else {
        chunk(run, at);
      }
      if (wider) {
        copy_rows(run.out, at.columns, all.out + begin * all.out_stride, all.out_stride, count, all.value_dim, false);
        run.value_stride = all.value_stride;
        run.out_stride = all.out_stride;
      }
    }
    if (wider) copy_rows(at.state, at.columns, all.state, all.value_dim, all.key_dim, all.value_dim, false);
  }

  // `fill`: the rest of each row of `to` becomes zero.
  static void copy_rows(const float* from, int64_t from_stride, float* to, int64_t to_stride, int64_t rows,
                        int64_t count, bool fill) {
    for (int64_t r = 0; r < rows; ++r) {
      std::memcpy(to + r * to_stride, from + r * from_stride, static_cast<size_t>(count) * sizeof(float));
      if (fill) std::memset(to + r * to_stride + count, 0, static_cast<size_t>(to_stride - count) * sizeof(float));
    }
  }

  // One token. S'q of the new S is e^g S'q + (k'q) d of the old one, so that S is read once for both products.
  static void step(const DeltaRun& run, const Place& at, int64_t t) {
    const float* key = run.key + t * run.key_stride;
    const float* query = run.query + t * run.key_stride;
    const Float kept = V::exp2(V::set(run.decay[t * run.gate_stride] * kLog2E));
    const Float beta = V::set(run.beta[t * run.gate_stride]);
    Float product = V::zero();
    Element<V>::each(run.key_dim, [&](int64_t i, auto load, auto) {
      product = V::multiply_add(load(key + i), load(query + i), product);
    });
    const Float overlap = V::set(V::sum(product));
    for (int64_t j = 0; j < at.columns; j += kBlock) {
      float* state = at.state + j;
      Float found[2][kWide], read[2][kWide];
      for (int w = 0; w < kWide; ++w) found[0][w] = found[1][w] = read[0][w] = read[1][w] = V::zero();
      const auto look = [&](int64_t i, int set) {
        const Float k = V::set(key[i]), q = V::set(query[i]);
        for (int w = 0; w < kWide; ++w) {
          const Float s = V::load(state + i * at.columns + w * kLanes);
          found[set][w] = V::multiply_add(k, s, found[set][w]);
          read[set][w] = V::multiply_add(q, s, read[set][w]);
        }
      };
      int64_t i = 0;
      for (; i + 2 <= run.key_dim; i += 2) {
        look(i, 0);
        look(i + 1, 1);
      }
      if (i < run.key_dim) look(i, 0);
      Float delta[kWide];
      for (int w = 0; w < kWide; ++w) {
        const int64_t column = j + w * kLanes;
        const Float value = V::load(run.value + t * run.value_stride + column);
        const Float before = V::multiply(kept, V::add(found[0][w], found[1][w]));
        delta[w] = V::multiply(beta, V::subtract(value, before));
        const Float out = V::multiply(kept, V::add(read[0][w], read[1][w]));
        V::store(run.out + t * run.out_stride + column, V::multiply_add(overlap, delta[w], out));
      }
      for (i = 0; i < run.key_dim; ++i) {
        const Float k = V::set(key[i]);
        for (int w = 0; w < kWide; ++w) {
          float* s = state + i * at.columns + w * kLanes;
          V::store(s, V::multiply_add(k, delta[w], V::multiply(kept, V::load(s))));
        }
      }
    }
  }

  // sum[r][w] += sum over d < depth of a[d * a_step + r * a_row] * b[d * b_step ..]
  template <int kCount, int kVectors>
  HALOGEN_INLINE static void product(const float* a, int64_t a_step, int64_t a_row, const float* b, int64_t b_step,
                                     int64_t depth, Float (&sum)[kCount][kVectors]) {
    for (int64_t d = 0; d < depth; ++d, a += a_step, b += b_step) {
      Float right[kVectors];
#pragma GCC unroll 2
      for (int w = 0; w < kVectors; ++w) right[w] = V::load(b + w * kLanes);
#pragma GCC unroll 8
      for (int r = 0; r < kCount; ++r) {
        const Float left = V::set(a[r * a_row]);
#pragma GCC unroll 2
        for (int w = 0; w < kVectors; ++w) sum[r][w] = V::multiply_add(left, right[w], sum[r][w]);
      }
    }
  }

  // Rows of keys and queries become columns; rows behind the last are zero.
  static void turn(const float* from, int64_t stride, int64_t count, int64_t depth, float* to) {
    for (int64_t r = 0; r < kChunk; r += kLanes) {
      for (int64_t i = 0; i < depth; i += kLanes) {
        const int64_t left = depth - i < kLanes ? depth - i : kLanes;
        Float block[kLanes];
        for (int64_t k = 0; k < kLanes; ++k)
          block[k] = r + k >= count ? V::zero() : V::load(from + (r + k) * stride + i, left);
        V::transpose(block);
        for (int64_t k = 0; k < left; ++k) V::store(to + (i + k) * kPair + r, block[k]);
      }
    }
  }

  // Several tokens at once. With G the running sum of g and S the state before them:
  // d_r = beta_r (v_r - e^G_r S'k_r - sum over c < r of e^(G_r - G_c) (k_r'k_c) d_c), solved row after row;
  // out_r = e^G_r S'q_r + sum over c <= r of e^(G_r - G_c) (q_r'k_c) d_c; S = e^G S + sum of e^(G - G_c) k_c d_c'.
  // No exponent is above zero.
  static void chunk(const DeltaRun& run, const Place& at) {
    const int64_t count = run.tokens;
    turn(run.key, run.key_stride, count, run.key_dim, at.turned);
    turn(run.query, run.key_stride, count, run.key_dim, at.turned + kChunk);
    double sums[kChunk];
    double sum = 0;
    for (int64_t r = 0; r < count; ++r) sums[r] = sum += static_cast<double>(run.decay[r * run.gate_stride]);
    alignas(64) float kept[kChunk] = {}, left[kChunk] = {};
    for (int64_t r = 0; r < kChunk; ++r) {
      for (int64_t c = 0; c < kChunk; ++c)
        at.power[r * kChunk + c] = c <= r && r < count ? static_cast<float>(sums[r] - sums[c]) * kLog2E : 0;
      kept[r] = r < count ? static_cast<float>(sums[r]) * kLog2E : 0;
      left[r] = r < count ? static_cast<float>(sum - sums[r]) * kLog2E : 0;
    }
    for (int64_t i = 0; i < kChunk * kChunk; i += kLanes) V::store(at.power + i, V::exp2(V::load(at.power + i)));
    for (int64_t i = 0; i < kChunk; i += kLanes) {
      V::store(kept + i, V::exp2(V::load(kept + i)));
      V::store(left + i, V::exp2(V::load(left + i)));
    }
    constexpr int kAcross = static_cast<int>(kChunk / kLanes);
    for (int64_t r = 0; r < kPair; r += kRows) {
      if (r % kChunk >= count) continue;
      Float sum_of[kRows][kAcross];
      for (auto& row : sum_of)
        for (Float& each : row) each = V::zero();
      product(at.turned + r, kPair, 1, at.turned, kPair, run.key_dim, sum_of);
      for (int64_t k = 0; k < kRows; ++k) {
        for (int64_t w = 0; w < kAcross; ++w) {
          const Float power = V::load(at.power + (r + k) % kChunk * kChunk + w * kLanes);
          V::store(at.mix + (r + k) * kChunk + w * kLanes, V::multiply(power, sum_of[k][w]));
        }
      }
    }
    for (int64_t j = 0; j < at.columns; j += kBlock) {
      for (int64_t r = 0; r < kPair; r += kRows) {
        if (r % kChunk >= count) continue;
        Float found[kRows][kWide];
        for (auto& row : found)
          for (Float& each : row) each = V::zero();
        product(at.turned + r, kPair, 1, at.state + j, at.columns, run.key_dim, found);
        for (int64_t k = 0; k < kRows; ++k)
          for (int64_t w = 0; w < kWide; ++w) V::store(at.found + (r + k) * kBlock + w * kLanes, found[k][w]);
      }
      solve(run, at, j, kept);
      for (int64_t r = 0; r < count; ++r) {
        const Float factor = V::set(left[r]);
        for (int64_t w = 0; w < kWide; ++w) {
          const Float delta = V::load(at.delta + r * at.columns + j + w * kLanes);
          V::store(at.found + r * kBlock + w * kLanes, V::multiply(factor, delta));
        }
      }
      const Float all_kept = V::set(kept[count - 1]);
      int64_t i = 0;
      for (; i + kRows <= run.key_dim; i += kRows) update<kRows>(at, j, i, count, all_kept);
      for (; i < run.key_dim; ++i) update<1>(at, j, i, count, all_kept);
    }
  }

  template <int kCount>
  HALOGEN_INLINE static void update(const Place& at, int64_t j, int64_t i, int64_t count, Float kept) {
    float* state = at.state + i * at.columns + j;
    Float sum[kCount][kWide];
    for (int64_t k = 0; k < kCount; ++k)
      for (int64_t w = 0; w < kWide; ++w) sum[k][w] = V::multiply(kept, V::load(state + k * at.columns + w * kLanes));
    product(at.turned + i * kPair, 1, kPair, at.found, kBlock, count, sum);
    for (int64_t k = 0; k < kCount; ++k)
      for (int64_t w = 0; w < kWide; ++w) V::store(state + k * at.columns + w * kLanes, sum[k][w]);
  }

  HALOGEN_INLINE static void solve(const DeltaRun& run, const Place& at, int64_t j, const float* kept) {
    for (int64_t r = 0; r < run.tokens; ++r) {
      const float* keys = at.mix + r * kChunk;
      const float* queries = at.mix + (kChunk + r) * kChunk;
      const Float factor = V::set(kept[r]), beta = V::set(run.beta[r * run.gate_stride]);
      Float sum[kWide], out[kWide];
      for (int64_t w = 0; w < kWide; ++w) {
        sum[w] = V::multiply(factor, V::load(at.found + r * kBlock + w * kLanes));
        out[w] = V::multiply(factor, V::load(at.found + (kChunk + r) * kBlock + w * kLanes));
      }
      for (int64_t c = 0; c < r; ++c) {
        for (int64_t w = 0; w < kWide; ++w) {
          const Float delta = V::load(at.delta + c * at.columns + j + w * kLanes);
          sum[w] = V::multiply_add(V::set(keys[c]), delta, sum[w]);
          out[w] = V::multiply_add(V::set(queries[c]), delta, out[w]);
        }
      }
      for (int64_t w = 0; w < kWide; ++w) {
        const int64_t column = j + w * kLanes;
        const Float value = V::load(run.value + r * run.value_stride + column);
        const Float delta = V::multiply(beta, V::subtract(value, sum[w]));
        V::store(at.delta + r * at.columns + column, delta);
        V::store(run.out + r * run.out_stride + column, V::multiply_add(V::set(queries[r]), delta, out[w]));
      }
    }
  }

  static void convolution(const ConvolutionRun& run) {
    switch (run.taps) {
      case 2:
        return convolve<2>(run);
      case 3:
        return convolve<3>(run);
      case 4:
        return convolve<4>(run);
      case 5:
        return convolve<5>(run);
      case 6:
        return convolve<6>(run);
      case 7:
        return convolve<7>(run);
      default:
        return convolve<8>(run);
    }
  }

  template <int kTaps>
  static void convolve(const ConvolutionRun& run) {
    Element<V>::each(run.channels, [&](int64_t c, auto load, auto store) {
      Float weights[kTaps], rows[kTaps];
#pragma GCC unroll 8
      for (int k = 0; k < kTaps; ++k) weights[k] = load(run.weights + k * run.side_stride + c);
#pragma GCC unroll 8
      for (int k = 0; k + 1 < kTaps; ++k) rows[k] = load(run.state + k * run.side_stride + c);
      float* x = run.x + c;
      for (int64_t t = 0; t < run.tokens; ++t, x += run.stride) {
        // Rows lie a page or more apart, where the processor does not look ahead by itself.
        if (t + kAhead < run.tokens) __builtin_prefetch(x + kAhead * run.stride, 1);
        rows[kTaps - 1] = load(x);
        Float sum = V::multiply(weights[0], rows[0]);
#pragma GCC unroll 8
        for (int k = 1; k < kTaps; ++k) sum = V::multiply_add(weights[k], rows[k], sum);
        store(x, V::divide(sum, Element<V>::one_and_exp2(V::multiply(sum, V::set(kLog2E)))));
#pragma GCC unroll 8
        for (int k = 0; k + 1 < kTaps; ++k) rows[k] = rows[k + 1];
      }
#pragma GCC unroll 8
      for (int k = 0; k + 1 < kTaps; ++k) store(run.state + k * run.side_stride + c, rows[k]);
    });
  }
};

}  // namespace halogen::kernel
