// How a record's scales (and minima) lie in its head, one row per lane. `block` is the place within the record, `run`
// the half of the block where runs are of 16 columns. V is a variant's lanes; put() stores one row's value.
#pragma once
#include "kernels/cpu/tile.h"

namespace halogen::kernel {

template <class T>
HALOGEN_INLINE T unaligned(const uint8_t* from) {
  T value;
  std::memcpy(&value, from, sizeof value);
  return value;
}

template <class T>
HALOGEN_INLINE void put(uint8_t* to, int64_t index, T value) {
  std::memcpy(to + index * static_cast<int64_t>(sizeof value), &value, sizeof value);
}

HALOGEN_INLINE uint16_t negative_half(uint16_t half) {
  return static_cast<uint16_t>(half ^ 0x8000u);
}

HALOGEN_INLINE float half_value(uint16_t half) {
  const uint32_t sign = static_cast<uint32_t>(half & 0x8000u) << 16, size = half & 0x7fffu;
  float value;
  if (size < 0x0400) {
    value = static_cast<float>(size) * 0x1p-24f;
    return sign != 0 ? -value : value;
  }
  const uint32_t bits = sign | (size >= 0x7c00 ? size << 13 | 0x7f800000u : (size << 13) + (112u << 23));
  std::memcpy(&value, &bits, sizeof value);
  return value;
}

// A half for every kShared blocks: half[kBlocks / kShared][L].
template <int N, int kShared = 1>
struct HalfScales {
  static constexpr int kBlocks = N, kRowBytes = 2 * N / kShared, kRun = 32;
  static constexpr bool kMinimum = false;
  template <class V>
  HALOGEN_INLINE static typename V::Float scale(const uint8_t* head, int64_t block, int) {
    return V::halves(head + block / kShared * 2 * V::kLanes);
  }
  template <int L>
  HALOGEN_INLINE static void put_scale(uint8_t* head, int64_t block, int64_t row, uint16_t half) {
    put(head, block / kShared * L + row, half);
  }
};

// Halves of scale and minimum of one block: half[2][L].
struct HalfMinimumScales {
  static constexpr int kBlocks = 1, kRowBytes = 4, kRun = 32;
  static constexpr bool kMinimum = true;
  template <class V>
  HALOGEN_INLINE static typename V::Float scale(const uint8_t* head, int64_t, int) {
    return V::halves(head);
  }
  template <class V>
  HALOGEN_INLINE static typename V::Float minimum(const uint8_t* head, int64_t, int) {
    return V::halves(head + 2 * V::kLanes);
  }
  template <int L>
  HALOGEN_INLINE static void put_scale(uint8_t* head, int64_t row, uint16_t scale, uint16_t minimum) {
    put(head, row, scale);
    put(head, L + row, minimum);
  }
};

// A half and a zero point for 128 columns, for codes with 8 for zero: half d[L] | int8 (8 - zero)[L].
struct ZeroPointScales {
  static constexpr int kBlocks = 4, kRowBytes = 3, kRun = 32;
  static constexpr bool kMinimum = true;
  template <class V>
  HALOGEN_INLINE static typename V::Float scale(const uint8_t* head, int64_t, int) {
    return V::halves(head);
  }
  template <class V>
  HALOGEN_INLINE static typename V::Float minimum(const uint8_t* head, int64_t, int) {
    return V::multiply(V::halves(head), V::signed_bytes(head + 2 * V::kLanes));
  }
  template <int L>
  HALOGEN_INLINE static void put_scale(uint8_t* head, int64_t row, uint16_t half, int zero) {
    put(head, row, half);
    put(head, 2 * L + row, static_cast<int8_t>(8 - zero));
  }
};

// Powers of two, 2^(e - 128), as MXFP4 has them: e[4][L].
struct PowerScales {
  static constexpr int kBlocks = 4, kRowBytes = 4, kRun = 32;
  static constexpr bool kMinimum = false;
  template <class V>
  HALOGEN_INLINE static typename V::Float scale(const uint8_t* head, int64_t block, int) {
    return V::powers(head + block * V::kLanes);
  }
  template <int L>
  HALOGEN_INLINE static void put_scale(uint8_t* head, int64_t block, int64_t row, uint8_t power) {
    put(head, block * L + row, power);
  }
};

// 256 columns: float d[L] | int8 scale[8][kRuns][L]; the factor is d * scale.
template <int kRuns>
struct SignedScales {
  static constexpr int kBlocks = 8, kRowBytes = 4 + 8 * kRuns, kRun = 32 / kRuns;
  static constexpr bool kMinimum = false;
  template <class V>
  HALOGEN_INLINE static typename V::Float scale(const uint8_t* head, int64_t block, int run) {
    return V::multiply(V::floats(head), V::signed_bytes(head + (4 + block * kRuns + run) * V::kLanes));
  }
  template <int L>
  HALOGEN_INLINE static void put_factor(uint8_t* head, int64_t row, float factor) {
    put(head, row, factor);
  }
  template <int L>
  HALOGEN_INLINE static void put_scale(uint8_t* head, int64_t block, int run, int64_t row, int scale) {
    put(head, (4 + block * kRuns + run) * L + row, static_cast<int8_t>(scale));
  }
};

// 256 columns: half d[L] | half -dmin[L] | uint8 scale[8][L] | uint8 minimum[8][L].
struct SixBitScales {
  static constexpr int kBlocks = 8, kRowBytes = 20, kRun = 32;
  static constexpr bool kMinimum = true;
  template <class V>
  HALOGEN_INLINE static typename V::Float scale(const uint8_t* head, int64_t block, int) {
    return V::multiply(V::halves(head), V::unsigned_bytes(head + (4 + block) * V::kLanes));
  }
  template <class V>
  HALOGEN_INLINE static typename V::Float minimum(const uint8_t* head, int64_t block, int) {
    return V::multiply(V::halves(head + 2 * V::kLanes), V::unsigned_bytes(head + (12 + block) * V::kLanes));
  }
  // 12 bytes at `six` hold scale and minimum of 8 blocks, six bits each.
  template <int L>
  HALOGEN_INLINE static void put_scale(uint8_t* head, int64_t block, int64_t row, const uint8_t* six) {
    int scale, minimum;
    if (block < 4) {
      scale = six[block] & 63;
      minimum = six[block + 4] & 63;
    } else {
      scale = (six[block + 4] & 15) | (six[block - 4] >> 6) << 4;
      minimum = six[block + 4] >> 4 | (six[block] >> 6) << 4;
    }
    put(head, (4 + block) * L + row, static_cast<uint8_t>(scale));
    put(head, (12 + block) * L + row, static_cast<uint8_t>(minimum));
  }
  template <int L>
  HALOGEN_INLINE static void put_factors(uint8_t* head, int64_t row, uint16_t d, uint16_t dmin) {
    put(head, row, d);
    put(head, L + row, negative_half(dmin));
  }
};

// Factors of 16 columns, bytes as NVFP4 has them, for codes held doubled: float8[2][2][L].
struct SmallFloatScales {
  static constexpr int kBlocks = 2, kRowBytes = 4, kRun = 16;
  static constexpr bool kMinimum = false;
  template <class V>
  HALOGEN_INLINE static typename V::Float scale(const uint8_t* head, int64_t block, int run) {
    return V::half_small_floats(head + (2 * block + run) * V::kLanes);
  }
  // The sign is not looked at, and 0x7f stands for zero.
  template <int L>
  HALOGEN_INLINE static void put_scale(uint8_t* head, int64_t block, int run, int64_t row, uint8_t code) {
    put(head, (2 * block + run) * L + row, static_cast<uint8_t>(code == 0x7f ? 0 : code & 0x7f));
  }
};

// 256 columns: half d[L] | half -dmin[L] | per 16 columns a byte with scale (low) and minimum (high nibble)[8][2][L].
struct NibbleScales {
  static constexpr int kBlocks = 8, kRowBytes = 20, kRun = 16;
  static constexpr bool kMinimum = true;
  template <class V>
  HALOGEN_INLINE static typename V::Float scale(const uint8_t* head, int64_t block, int run) {
    return V::multiply(V::halves(head), V::to_float(V::mask(both<V>(head, block, run), 0x0f)));
  }
  template <class V>
  HALOGEN_INLINE static typename V::Float minimum(const uint8_t* head, int64_t block, int run) {
    return V::multiply(V::halves(head + 2 * V::kLanes), V::to_float(V::shift_right(both<V>(head, block, run), 4)));
  }
  template <int L>
  HALOGEN_INLINE static void put_scale(uint8_t* head, int64_t block, int run, int64_t row, uint8_t both) {
    put(head, (4 + 2 * block + run) * L + row, both);
  }
  template <int L>
  HALOGEN_INLINE static void put_factors(uint8_t* head, int64_t row, uint16_t d, uint16_t dmin) {
    put(head, row, d);
    put(head, L + row, negative_half(dmin));
  }

 private:
  template <class V>
  HALOGEN_INLINE static typename V::Bytes both(const uint8_t* head, int64_t block, int run) {
    return V::integers(head + (4 + 2 * block + run) * V::kLanes);
  }
};

}  // namespace halogen::kernel
