// GGUF's 32-element blocks, and their tiles: rows side by side, four codes of one row per 32-bit lane.
// A tile of L rows is one stream of records, so that the processor's own prefetch keeps up (three streams ran at half
// speed): Q4_1 per block scales half[L] | minima half[L] | codes; the others per two blocks scales half[2][L] |
// codes[2], which keeps the codes on whole registers. An odd last block leaves half a record unused. Codes of a 4-bit
// block are word[4][L]: word k keeps columns 4k.. in its low and 16 + 4k.. in its high nibbles. Codes of an 8-bit block
// are word[8][L]: word g holds columns 4g...
#pragma once
#include "kernels/cpu/tile.h"

namespace halogen::kernel {

constexpr int64_t kBlock = 32;

struct FormatQ4_0 {
  static constexpr int64_t kBytes = 18, kCodes = 2, kWords = 4;
  static constexpr bool kMinimum = false;
  static constexpr uint32_t kFlip = 0;
  static constexpr int kOffsetShift = 3;  // code = value + 2^3
};

struct FormatQ4_1 {
  static constexpr int64_t kBytes = 20, kCodes = 4, kWords = 4;
  static constexpr bool kMinimum = true;
  static constexpr uint32_t kFlip = 0;
  static constexpr int kOffsetShift = 0;
};

// As unsigned codes value + 128, for instructions that multiply unsigned by signed bytes.
struct FormatQ8_0Unsigned {
  static constexpr int64_t kBytes = 34, kCodes = 2, kWords = 8;
  static constexpr bool kMinimum = false;
  static constexpr uint32_t kFlip = 0x80808080u;
  static constexpr int kOffsetShift = 7;
};

struct FormatQ8_0Signed {
  static constexpr int64_t kBytes = 34, kCodes = 2, kWords = 8;
  static constexpr bool kMinimum = false;
  static constexpr uint32_t kFlip = 0;
  static constexpr int kOffsetShift = 0;
};

// `Variant` is a type of the variant's namespace: see tile.h.
template <class Variant, class F, int L>
struct BlockTile {
  static constexpr int64_t row_bytes(int64_t columns) { return columns / kBlock * F::kBytes; }
  static constexpr int64_t kPair = F::kMinimum ? 1 : 2;
  static constexpr int64_t kScaleBytes = L * 2;
  static constexpr int64_t kCodeBytes = L * F::kWords * 4;
  static constexpr int64_t kRecord = kPair * kCodeBytes + 2 * kScaleBytes;
  static constexpr int64_t scale_at(int64_t block) { return block / kPair * kRecord + block % kPair * kScaleBytes; }
  static constexpr int64_t minimum_at(int64_t block) { return block * kRecord + kScaleBytes; }
  static constexpr int64_t code_at(int64_t block) {
    return block / kPair * kRecord + 2 * kScaleBytes + block % kPair * kCodeBytes;
  }
  static constexpr int64_t tile_bytes(int64_t columns) {
    return round_up((columns / kBlock + kPair - 1) / kPair * kRecord, 64);
  }

  // Lanes without a row are zero.
  static void pack_tile(const uint8_t* gguf, uint8_t* tile, int64_t columns, int64_t rows) {
    const int64_t blocks = columns / kBlock;
    if (rows < L) std::memset(tile, 0, static_cast<size_t>(tile_bytes(columns)));
    for (int64_t row = 0; row < rows; ++row) {
      for (int64_t block = 0; block < blocks; ++block) {
        const uint8_t* from = gguf + (row * blocks + block) * F::kBytes;
        std::memcpy(tile + scale_at(block) + row * 2, from, 2);
        if constexpr (F::kMinimum) std::memcpy(tile + minimum_at(block) + row * 2, from + 2, 2);
        uint8_t* words = tile + code_at(block) + row * 4;
        for (int64_t word = 0; word < F::kWords; ++word) {
          uint32_t code;
          std::memcpy(&code, from + F::kCodes + word * 4, 4);
          code ^= F::kFlip;
          std::memcpy(words + word * L * 4, &code, 4);
        }
      }
    }
  }
};

// Activations of a group of T tokens, per block: codes int8[8][T][4] | scale float[T] | scaled sum float[T] | -sum
// int32[T].
constexpr int64_t kActivationBytes = kBlock + 12;

}  // namespace halogen::kernel
