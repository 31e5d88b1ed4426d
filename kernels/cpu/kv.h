// The types that keys and values are kept in, written once over a variant's Vector. kernel.h has the layout of a page.
#pragma once
#include "kernels/cpu/tile.h"

namespace halogen::kernel {

// The longest run that Q8_0 rotates.
constexpr int64_t kMostRun = 256;

// A type gives Element, kScaled, loads of whole and partial vectors, and a store of at most a vector.
template <class V>
struct KvF32 {
  using Element = float;
  static constexpr bool kScaled = false;
  HALOGEN_INLINE static typename V::Float load(const float* from) { return V::load(from); }
  HALOGEN_INLINE static typename V::Float load(const float* from, int64_t count) { return V::load(from, count); }
  HALOGEN_INLINE static void store(float* to, typename V::Float value, int64_t count) { V::store(to, value, count); }
};

template <class V>
struct KvF16 {
  using Element = uint16_t;
  static constexpr bool kScaled = false;
  HALOGEN_INLINE static typename V::Float load(const uint16_t* from) { return V::load_half(from); }
  HALOGEN_INLINE static typename V::Float load(const uint16_t* from, int64_t count) {
    return V::load_half(from, count);
  }
  HALOGEN_INLINE static void store(uint16_t* to, typename V::Float value, int64_t count) {
    V::store_half(to, value, count);
  }
};

template <class V>
struct KvBF16 {
  using Element = uint16_t;
  static constexpr bool kScaled = false;
  HALOGEN_INLINE static typename V::Float load(const uint16_t* from) { return V::load_upper(from); }
  HALOGEN_INLINE static typename V::Float load(const uint16_t* from, int64_t count) {
    return V::load_upper(from, count);
  }
  HALOGEN_INLINE static void store(uint16_t* to, typename V::Float value, int64_t count) {
    V::store_upper(to, value, count);
  }
};

// Loads give the bytes as they are: whoever reads them multiplies with the row's scale.
template <class V>
struct KvQ8 {
  using Element = int8_t;
  static constexpr bool kScaled = true;
  HALOGEN_INLINE static typename V::Float load(const int8_t* from) {
    return V::load_signed_bytes(reinterpret_cast<const uint8_t*>(from));
  }
  HALOGEN_INLINE static typename V::Float load(const int8_t* from, int64_t count) {
    return V::load_signed_bytes(reinterpret_cast<const uint8_t*>(from), count);
  }
  HALOGEN_INLINE static void store(int8_t* to, typename V::Float value, int64_t count) {
    V::store_signed_bytes(to, value, count);
  }
};

// Walsh-Hadamard transform of each run of n elements over sqrt(n), in place; n: the largest power of two in count, at
// most 256.
template <class V>
struct Hadamard {
  static int64_t run_of(int64_t count) { return (count & -count) < kMostRun ? count & -count : kMostRun; }

  // count is a multiple of n = run_of(the row).
  static void apply(float* x, int64_t count, int64_t n) {
    const float factor = 1.0f / __builtin_sqrtf(static_cast<float>(n));
    if (n < V::kLanes) return apply_short(x, count, n, factor);
    for (int64_t at = 0; at < count; at += V::kLanes) {
      V::store(x + at, V::multiply(within<V::kLanes / 2>(V::load(x + at)), V::set(factor)));
    }
    for (int64_t step = V::kLanes; step < n; step *= 2) {
      for (int64_t at = 0; at < count; at += V::kLanes) {
        if ((at & step) != 0) continue;
        const auto a = V::load(x + at), b = V::load(x + at + step);
        V::store(x + at, V::add(a, b));
        V::store(x + at + step, V::subtract(a, b));
      }
    }
  }

 private:
  template <int H>
  HALOGEN_INLINE static typename V::Float within(typename V::Float value) {
    if constexpr (H == 0) {
      return value;
    } else {
      return within<H / 2>(V::template butterfly<H>(value));
    }
  }
  static void apply_short(float* x, int64_t count, int64_t n, float factor) {
    for (int64_t step = 1; step < n; step *= 2) {
      for (int64_t at = 0; at < count; ++at) {
        if ((at & step) != 0) continue;
        const float a = x[at], b = x[at + step];
        x[at] = a + b;
        x[at + step] = a - b;
      }
    }
    for (int64_t at = 0; at < count; ++at) x[at] *= factor;
  }
};

template <class V, class Kv>
struct KvPage {
  using Float = typename V::Float;
  using Element = typename Kv::Element;

  static size_t bytes(int64_t head_dim, int64_t page_tokens) {
    const int64_t rows = page_tokens * head_dim * static_cast<int64_t>(sizeof(Element));
    return static_cast<size_t>(Kv::kScaled ? round_up(rows, 64) + page_tokens * static_cast<int64_t>(sizeof(float))
                                           : rows);
  }
  HALOGEN_INLINE static const Element* row(const void* page, int64_t slot, int64_t head_dim) {
    return static_cast<const Element*>(page) + slot * head_dim;
  }
  HALOGEN_INLINE static const float* scales(const void* page, int64_t page_tokens, int64_t head_dim) {
    return reinterpret_cast<const float*>(static_cast<const uint8_t*>(page) + round_up(page_tokens * head_dim, 64));
  }

  static void store(const float* x, void* page, int64_t slot, int64_t page_tokens, int64_t head_dim) {
    auto* to = const_cast<Element*>(row(page, slot, head_dim));
    if constexpr (Kv::kScaled) {
      store_scaled(x, page, slot, page_tokens, head_dim, to);
    } else {
      for (int64_t at = 0; at < head_dim; at += V::kLanes)
        Kv::store(to + at, part(x, at, head_dim), room(at, head_dim));
    }
  }

 private:
  // In pieces of whole runs, so that a head may be as wide as it likes: first the peak, then the bytes.
  static void store_scaled(const float* x, void* page, int64_t slot, int64_t page_tokens, int64_t head_dim,
                           Element* to) {
    const int64_t n = Hadamard<V>::run_of(head_dim), step = kMostRun / n * n;
    float piece[kMostRun];
    Float peaks = V::zero();
    for (int64_t begin = 0; begin < head_dim; begin += step) {
      const int64_t count = rotated_piece(x, begin, step, head_dim, n, piece);
      for (int64_t at = 0; at < count; at += V::kLanes) peaks = V::maximum(V::magnitude(part(piece, at, count)), peaks);
    }
    const float peak = V::largest(peaks);
    const_cast<float*>(scales(page, page_tokens, head_dim))[slot] = peak / 127.0f;
    const Float factor = V::set(peak > 0 ? 127.0f / peak : 0.0f);
    for (int64_t begin = 0; begin < head_dim; begin += step) {
      const int64_t count = step < head_dim ? rotated_piece(x, begin, step, head_dim, n, piece) : head_dim;
      for (int64_t at = 0; at < count; at += V::kLanes) {
        Kv::store(to + begin + at, V::multiply(part(piece, at, count), factor), room(at, count));
      }
    }
  }

  static int64_t rotated_piece(const float* x, int64_t begin, int64_t step, int64_t head_dim, int64_t n, float* piece) {
    const int64_t count = head_dim - begin < step ? head_dim - begin : step;
    std::memcpy(piece, x + begin, static_cast<size_t>(count) * sizeof(float));
    Hadamard<V>::apply(piece, count, n);
    return count;
  }

  HALOGEN_INLINE static int64_t room(int64_t at, int64_t head_dim) {
    return head_dim - at < V::kLanes ? head_dim - at : int64_t{V::kLanes};
  }
  HALOGEN_INLINE static Float part(const float* x, int64_t at, int64_t head_dim) {
    return at + V::kLanes <= head_dim ? V::load(x + at) : V::load(x + at, head_dim - at);
  }
};

}  // namespace halogen::kernel
