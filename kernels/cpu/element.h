// Element-wise operations, written once over a variant's Vector.
#pragma once
#include <cmath>

#include "kernels/cpu/tile.h"

namespace halogen::kernel {

template <class V>
struct Element {
  using Float = typename V::Float;
  static constexpr int64_t kLanes = V::kLanes;

  // Calls step(i, load, store) for whole vectors, then once for the rest.
  template <class Step>
  HALOGEN_INLINE static void each(int64_t count, const Step& step) {
    int64_t i = 0;
    for (; i + kLanes <= count; i += kLanes) {
      step(i, [](const float* from) { return V::load(from); }, [](float* to, Float value) { V::store(to, value); });
    }
    if (const int64_t rest = count - i; rest > 0) {
      step(
          i, [rest](const float* from) { return V::load(from, rest); },
          [rest](float* to, Float value) { V::store(to, value, rest); });
    }
  }

  // 1 + 2^-x, finite for every x but NaN. Operand order keeps a NaN.
  HALOGEN_INLINE static Float one_and_exp2(Float x) {
    return V::add(V::set(1.0f), V::exp2(V::subtract(V::zero(), V::maximum(V::set(-126.0f), x))));
  }

  static void rms_norm(const float* x, const float* weight, float* out, int64_t count, float eps) {
    Float squares[4] = {V::zero(), V::zero(), V::zero(), V::zero()};
    int64_t i = 0;
    for (; i + 4 * kLanes <= count; i += 4 * kLanes) {
      for (int64_t k = 0; k < 4; ++k) {
        const Float value = V::load(x + i + k * kLanes);
        squares[k] = V::multiply_add(value, value, squares[k]);
      }
    }
    for (; i < count; i += kLanes) {
      const int64_t rest = count - i < kLanes ? count - i : kLanes;
      const Float value = V::load(x + i, rest);
      squares[0] = V::multiply_add(value, value, squares[0]);
    }
    const float total = V::sum(V::add(V::add(squares[0], squares[1]), V::add(squares[2], squares[3])));
    const Float factor = V::set(1.0f / std::sqrt(total / static_cast<float>(count) + eps));
    if (weight != nullptr) {
      each(count, [&](int64_t at, auto load, auto store) {
        store(out + at, V::multiply(V::multiply(load(x + at), factor), load(weight + at)));
      });
    } else {
      each(count, [&](int64_t at, auto load, auto store) { store(out + at, V::multiply(load(x + at), factor)); });
    }
  }

  static void silu_mul(const float* gate, const float* up, float* out, int64_t count) {
    const Float one = V::set(1.0f);
    const Float negative = V::set(-1.44269504f);
    each(count, [&](int64_t at, auto load, auto store) {
      const Float value = load(gate + at);
      const Float below = V::add(one, V::exp2(V::multiply(value, negative)));
      store(out + at, V::multiply(V::divide(value, below), load(up + at)));
    });
  }

  static void sigmoid_mul(const float* gate, float* x, int64_t count) {
    const Float base = V::set(1.44269504f);
    each(count, [&](int64_t at, auto load, auto store) {
      store(x + at, V::divide(load(x + at), one_and_exp2(V::multiply(load(gate + at), base))));
    });
  }

  static void l2_norm(float* x, int64_t count, float eps, float scale) {
    Float squares = V::zero();
    each(count, [&](int64_t at, auto load, auto) {
      const Float value = load(x + at);
      squares = V::multiply_add(value, value, squares);
    });
    const Float factor = V::set(scale / std::sqrt(V::sum(squares) + eps));
    each(count, [&](int64_t at, auto load, auto store) { store(x + at, V::multiply(load(x + at), factor)); });
  }

  // tanh(u) + 1 is 2 / (1 + e^-2u), which loses no digits below zero.
  static void gelu_mul(const float* gate, const float* up, float* out, int64_t count) {
    const Float linear = V::set(2.30220819f);  // 2 log2(e) sqrt(2 / pi)
    const Float cubic = V::set(0.10294324f);   // 0.044715 of it
    each(count, [&](int64_t at, auto load, auto store) {
      const Float value = load(gate + at);
      const Float inner = V::multiply_add(V::multiply(value, value), cubic, linear);
      store(out + at, V::multiply(V::divide(value, one_and_exp2(V::multiply(value, inner))), load(up + at)));
    });
  }

  static void clamped_mul(const float* gate, const float* up, float* out, int64_t count) {
    const Float one = V::set(1.0f), zero = V::zero(), least = V::set(-7.0f);
    const Float slope = V::set(2.45546707f);  // 1.702 log2(e)
    each(count, [&](int64_t at, auto load, auto store) {
      const Float g = V::subtract(zero, V::maximum(least, V::subtract(zero, load(gate + at))));
      const Float u = V::subtract(zero, V::maximum(least, V::subtract(zero, V::maximum(least, load(up + at)))));
      store(out + at, V::multiply(V::divide(g, one_and_exp2(V::multiply(g, slope))), V::add(u, one)));
    });
  }

  static void squared_relu_mul(const float* gate, const float* up, float* out, int64_t count) {
    each(count, [&](int64_t at, auto load, auto store) {
      const Float g = V::maximum(V::zero(), load(gate + at));
      store(out + at, V::multiply(V::multiply(g, g), load(up + at)));
    });
  }

  static void softcap(float* x, float cap, int64_t count) {
    const Float inner = V::set(2.88539008f / cap);  // 2 log2(e) / cap
    const Float twice = V::set(2.0f * cap), once = V::set(cap);
    each(count, [&](int64_t at, auto load, auto store) {
      store(x + at, V::subtract(V::divide(twice, one_and_exp2(V::multiply(load(x + at), inner))), once));
    });
  }

  static void add(float* x, const float* y, int64_t count) {
    each(count, [&](int64_t at, auto load, auto store) { store(x + at, V::add(load(x + at), load(y + at))); });
  }

  static void rope(float* x, int64_t heads, int64_t head_dim, int64_t rotated, const float* cosine, const float* sine,
                   bool neox) {
    const int64_t half = rotated / 2;
    for (int64_t head = 0; head < heads; ++head, x += head_dim) {
      if (neox) {
        each(half, [&](int64_t at, auto load, auto store) {
          const Float a = load(x + at), b = load(x + half + at), c = load(cosine + at), s = load(sine + at);
          store(x + at, V::subtract(V::multiply(a, c), V::multiply(b, s)));
          store(x + half + at, V::multiply_add(b, c, V::multiply(a, s)));
        });
        continue;
      }
      int64_t pair = 0;
      for (; pair + kLanes / 2 <= half; pair += kLanes / 2) {
        const Float value = V::load(x + 2 * pair);
        const Float crossed = V::multiply(V::swap_pairs(value), V::load_doubled(sine + pair));
        V::store(x + 2 * pair, V::multiply_alternate(value, V::load_doubled(cosine + pair), crossed));
      }
      for (; pair < half; ++pair) {
        const float a = x[2 * pair], b = x[2 * pair + 1];
        x[2 * pair] = a * cosine[pair] - b * sine[pair];
        x[2 * pair + 1] = b * cosine[pair] + a * sine[pair];
      }
    }
  }
};

}  // namespace halogen::kernel
