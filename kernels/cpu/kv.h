// The types that keys and values are kept in, written once over a variant's Vector. kernel.h has the layout of a page.
#pragma once
#include "kernels/cpu/tile.h"

namespace halogen::kernel {

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
    Float factor = V::set(1.0f);
    if constexpr (Kv::kScaled) {
      Float peaks = V::zero();
      for (int64_t at = 0; at < head_dim; at += V::kLanes)
        peaks = V::maximum(V::magnitude(part(x, at, head_dim)), peaks);
      const float peak = V::largest(peaks);
      const_cast<float*>(scales(page, page_tokens, head_dim))[slot] = peak / 127.0f;
      factor = V::set(peak > 0 ? 127.0f / peak : 0.0f);
    }
    for (int64_t at = 0; at < head_dim; at += V::kLanes) {
      Float value = part(x, at, head_dim);
      if constexpr (Kv::kScaled) value = V::multiply(value, factor);
      Kv::store(to + at, value, head_dim - at < V::kLanes ? head_dim - at : int64_t{V::kLanes});
    }
  }

 private:
  HALOGEN_INLINE static Float part(const float* x, int64_t at, int64_t head_dim) {
    return at + V::kLanes <= head_dim ? V::load(x + at) : V::load(x + at, head_dim - at);
  }
};

}  // namespace halogen::kernel
