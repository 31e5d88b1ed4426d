// Products of block formats: weights in tiles of rows, activations as 16-bit codes per block of 32 columns.
// A tile of L rows is one stream of records, so that the processor's own prefetch keeps up. A record covers kBlocks
// blocks of 32 columns: the scales' head, then per block code words [kWords][L] of 32 bits, each of one row. An
// unfinished last record leaves its rest unused. A format F (format_*.h) names its codes (code.h) and scales (scale.h);
// a variant's lanes turn word g of a block into the unsigned codes of columns 4g .. 4g + 3.
#pragma once
#include "kernels/cpu/tile.h"

namespace halogen::kernel {

constexpr int64_t kBlock = 32;

// Largest 16-bit code of a block of activations: the high byte, rounded, of a code c is (c + 128) >> 8 and fits 8 bits.
// 8-bit codes alone moved the logits enough to change greedy tokens.
constexpr float kPeak = 32639.0f;
constexpr float kSmallestPeak = 1e-34f;  // below, kPeak / peak would be infinite: such a block counts as zero

// Of a group of T tokens, per block: codes of kCodeBytes for each token, in the variant's own order, then
// scale float[T] | minus the sum of the codes int32[T] | minus that of the first 16 int32[T] | scaled sum float[T].
// A dot of 32 unsigned 8-bit codes stays below 2^29, so it is exact in 32 bits.
constexpr int64_t kCodeBytes = 2 * kBlock;
constexpr int64_t kActivationBytes = kCodeBytes + 16;

// Activations as 16-bit codes. N gives kTokens and write_codes(): see block_product.h. Kernels of several files take
// the same form and so share it, which is why N is in no anonymous namespace.
template <class N>
struct BlockActivation {
  static constexpr int kTokens = N::kTokens;
  static constexpr int64_t token_bytes(int64_t columns) { return columns / kBlock * kActivationBytes; }

  static void quantize(const float* x, uint8_t* to, int64_t tokens) {
    int32_t sums[2];  // of the codes of each half
    const float scale = N::write_codes(x, to, tokens, sums) / kPeak;
    const int32_t negative[2] = {-(sums[0] + sums[1]), -sums[0]};
    const float scaled_sum = scale * static_cast<float>(sums[0] + sums[1]);
    uint8_t* tail = to + kCodeBytes * tokens;
    std::memcpy(tail, &scale, 4);
    std::memcpy(tail + 4 * tokens, negative, 4);
    std::memcpy(tail + 8 * tokens, negative + 1, 4);
    std::memcpy(tail + 12 * tokens, &scaled_sum, 4);
  }

  static void prepare_group(const float* x, int64_t x_stride, uint8_t* group, int64_t columns, int64_t tokens) {
    for (int64_t block = 0; block < columns / kBlock; ++block) {
      for (int64_t token = 0; token < tokens; ++token) {
        quantize(x + token * x_stride + block * kBlock, group + block * kActivationBytes * tokens + token * 4, tokens);
      }
    }
  }
};

// `Variant` is a type of the variant's namespace: see tile.h.
template <class Variant, class F, int L>
struct BlockTile {
  static constexpr int64_t kBlocks = F::Scales::kBlocks;
  static constexpr int64_t kHead = round_up(F::Scales::kRowBytes * L, 4 * L);
  static constexpr int64_t kCodes = F::Codes::kWords * 4 * L;
  static constexpr int64_t kRecord = kHead + kBlocks * kCodes;
  static constexpr int64_t kSource = F::kElements / kBlock;  // blocks of 32 in a block of the file

  static constexpr int64_t row_bytes(int64_t columns) { return columns / F::kElements * F::kBytes; }
  static constexpr int64_t tile_bytes(int64_t columns) {
    return round_up((columns / kBlock + kBlocks - 1) / kBlocks * kRecord, 64);
  }

  // Lanes without a row are zero.
  static void pack_tile(const uint8_t* gguf, uint8_t* tile, int64_t columns, int64_t rows) {
    const int64_t sources = columns / F::kElements;
    if (rows < L) std::memset(tile, 0, static_cast<size_t>(tile_bytes(columns)));
    for (int64_t row = 0; row < rows; ++row) {
      for (int64_t source = 0; source < sources; ++source) {
        const uint8_t* from = gguf + (row * sources + source) * F::kBytes;
        for (int64_t i = 0; i < kSource; ++i) {
          const int64_t block = source * kSource + i;
          uint8_t* record = tile + block / kBlocks * kRecord;
          const int64_t slot = block % kBlocks;
          alignas(32) uint8_t codes[kBlock];
          F::unpack(from, static_cast<int>(i), codes);
          uint32_t words[F::Codes::kWords];
          F::Codes::encode(codes, words);
          uint8_t* to = record + kHead + slot * kCodes + row * 4;
          for (int word = 0; word < F::Codes::kWords; ++word) std::memcpy(to + word * 4 * L, words + word, 4);
          F::template pack_scales<L>(from, static_cast<int>(i), record, slot, row);
        }
      }
    }
  }
};

}  // namespace halogen::kernel
