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

// kFlip turns the codes into two's complement of their own width.
struct FormatQ4_0 {
  static constexpr int64_t kBytes = 18, kCodes = 2, kWords = 4;
  static constexpr bool kMinimum = false;
  static constexpr uint32_t kFlip = 0x88888888u;
};

struct FormatQ4_1 {
  static constexpr int64_t kBytes = 20, kCodes = 4, kWords = 4;
  static constexpr bool kMinimum = true;  // its codes stay unsigned
  static constexpr uint32_t kFlip = 0;
};

struct FormatQ8_0 {
  static constexpr int64_t kBytes = 34, kCodes = 2, kWords = 8;
  static constexpr bool kMinimum = false;
  static constexpr uint32_t kFlip = 0;
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

// Activations are 16-bit codes with the largest magnitude of a block at 32767: 8-bit ones moved the logits enough to
// change greedy tokens. Of a group of T tokens, per block: pairs int16[16][T][2] | scale float[T] | scaled sum
// float[T]. Pair 2g + j holds columns 4g + j and 4g + j + 2: those that lie in the two halves of a 32-bit lane of
// codes. The sum of a block, at most 32 * 128 * 32768, fits 32 bits.
constexpr float kPeak = 32767.0f;
constexpr float kSmallestPeak = 1e-34f;  // below, kPeak / peak would be infinite: such a block counts as zero
constexpr int64_t kPairBytes = 2 * kBlock;
constexpr int64_t kActivationBytes = kPairBytes + 8;

// load_pairs(word) of both variants gives four registers of code pairs: register i meets activation pair
// pair_at(word, i).
HALOGEN_INLINE constexpr int pair_at(int word, int i) {
  return 2 * (word + i % 2 * 4) + i / 2;
}

}  // namespace halogen::kernel
