// Products of F32, F16 and BF16 weights with float activations, exact up to float rounding; any column count.
// Tile of L rows: element[columns][L]. Activations of a group of T tokens: float[columns][T].
#pragma once
#include "kernels/cpu/tile.h"

namespace halogen::kernel {

template <class V>
struct WeightF32 {
  using Element = float;
  HALOGEN_INLINE static typename V::Float load(const float* from) { return V::load(from); }
};

template <class V>
struct WeightF16 {
  using Element = uint16_t;
  HALOGEN_INLINE static typename V::Float load(const uint16_t* from) { return V::load_half(from); }
};

template <class V>
struct WeightBF16 {
  using Element = uint16_t;
  HALOGEN_INLINE static typename V::Float load(const uint16_t* from) { return V::load_upper(from); }
};

template <class V, class W>
struct FloatTile {
  using Activation = FloatTile;
  using Float = typename V::Float;
  using Element = typename W::Element;
  static constexpr int kLanes = V::kLanes;
  static constexpr int kTokens = V::kRegisters / 4;
  static constexpr bool kPaired = false;
  static constexpr int64_t kElement = sizeof(Element);

  static constexpr int64_t row_bytes(int64_t columns) { return columns * kElement; }
  static constexpr int64_t tile_bytes(int64_t columns) { return round_up(columns * kLanes * kElement, 64); }
  static constexpr int64_t token_bytes(int64_t columns) { return columns * 4; }

  static void pack_tile(const uint8_t* gguf, uint8_t* tile, int64_t columns, int64_t rows) {
    if (rows < kLanes) std::memset(tile, 0, static_cast<size_t>(tile_bytes(columns)));
    for (int64_t column = 0; column < columns; ++column) {
      for (int64_t row = 0; row < rows; ++row) {
        std::memcpy(tile + (column * kLanes + row) * kElement, gguf + (row * columns + column) * kElement, kElement);
      }
    }
  }

  static void prepare_group(const float* x, int64_t x_stride, uint8_t* group, int64_t columns, int64_t tokens) {
    auto* to = reinterpret_cast<float*>(group);
    if (tokens == 1) {
      std::memcpy(to, x, static_cast<size_t>(columns) * 4);
      return;
    }
    for (int64_t column = 0; column < columns; ++column) {
      for (int64_t token = 0; token < tokens; ++token) *to++ = x[token * x_stride + column];
    }
  }

  template <int T>
  static void run_group(const uint8_t* tile, const uint8_t* group, int64_t columns, float* out, int64_t out_stride,
                        int64_t rows) {
    // Few tokens need several sums each to hide the latency of the addition.
    constexpr int kChains = T >= 4 ? 1 : T >= 2 ? 2 : 4;
    const auto* weight = reinterpret_cast<const Element*>(tile);
    const auto* x = reinterpret_cast<const float*>(group);
    Float sum[kChains][T];
    for (auto& chain : sum) {
      for (Float& value : chain) value = V::zero();
    }
    int64_t column = 0;
    for (; column + kChains <= columns; column += kChains) {
      for (int chain = 0; chain < kChains; ++chain) {
        const Float w = W::load(weight + chain * kLanes);
        for (int t = 0; t < T; ++t) sum[chain][t] = V::multiply_add(w, V::set(x[chain * T + t]), sum[chain][t]);
      }
      weight += kChains * kLanes;
      x += kChains * T;
    }
    for (; column < columns; ++column) {
      const Float w = W::load(weight);
      for (int t = 0; t < T; ++t) sum[0][t] = V::multiply_add(w, V::set(x[t]), sum[0][t]);
      weight += kLanes;
      x += T;
    }
    for (int t = 0; t < T; ++t) {
      for (int chain = 1; chain < kChains; ++chain) sum[0][t] = V::add(sum[0][t], sum[chain][t]);
      V::store(out + t * out_stride, sum[0][t], rows);
    }
  }
};

}  // namespace halogen::kernel
