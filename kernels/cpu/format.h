// What formats share. A format gives its Codes and Scales, unpack(from, i, codes), the codes of the i-th 32 weights of
// a block of the file, and pack_scales<L>(from, i, head, block, row), which puts their scales into a record's head.
#pragma once
#include "kernels/cpu/code.h"
#include "kernels/cpu/scale.h"

namespace halogen::kernel {

// Blocks of Elements weights in Bytes. The codes are unsigned with 2^Offset for zero; below zero: a minimum does it.
template <class C, class S, int64_t Elements, int64_t Bytes, int Offset>
struct Format {
  using Codes = C;
  using Scales = S;
  static constexpr int64_t kElements = Elements, kBytes = Bytes;
  static constexpr int kOffset = Offset;
};

// The scale of a block is a half at byte At.
template <class C, class S, int64_t Elements, int64_t Bytes, int Offset, int At = 0>
struct HalfFormat : Format<C, S, Elements, Bytes, Offset> {
  template <int L>
  HALOGEN_INLINE static void pack_scales(const uint8_t* from, int i, uint8_t* head, int64_t block, int64_t row) {
    if (i == 0) S::template put_scale<L>(head, block, row, unaligned<uint16_t>(from + At));
  }
};

// Blocks of 32 that begin with halves of scale and minimum.
template <class C, int64_t Bytes>
struct MinimumFormat : Format<C, HalfMinimumScales, 32, Bytes, -1> {
  template <int L>
  HALOGEN_INLINE static void pack_scales(const uint8_t* from, int, uint8_t* head, int64_t, int64_t row) {
    HalfMinimumScales::put_scale<L>(head, row, unaligned<uint16_t>(from), unaligned<uint16_t>(from + 2));
  }
};

// Blocks of 256 with a factor and a signed scale of every run: Self gives factor(from) and scale(from, i, run).
template <class Self, class C, int Runs, int64_t Bytes, int Offset>
struct SignedFormat : Format<C, SignedScales<Runs>, 256, Bytes, Offset> {
  template <int L>
  HALOGEN_INLINE static void pack_scales(const uint8_t* from, int i, uint8_t* head, int64_t block, int64_t row) {
    if (i == 0) SignedScales<Runs>::template put_factor<L>(head, row, Self::factor(from));
    for (int run = 0; run < Runs; ++run) {
      SignedScales<Runs>::template put_scale<L>(head, block, run, row, Self::scale(from, i, run));
    }
  }
};

}  // namespace halogen::kernel
