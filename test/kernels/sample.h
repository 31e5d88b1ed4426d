// Random and adversarial weights and activations, aligned memory, and what this CPU can run.
#pragma once
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <new>
#include <string>
#include <vector>

#include "kernels/cpu/kernel.h"
#include "kernels/table.h"

namespace halogen::test {

// 64-byte aligned, with a guard zone behind that `intact` checks. Large ones lie on huge pages, as the engine's do.
class Buffer {
 public:
  explicit Buffer(size_t size) : size_(size), bytes_(new(std::align_val_t{kAlign}) uint8_t[size + kGuard]) {
    advise_huge(bytes_, size);
    std::memset(bytes_, 0, size);
    std::memset(bytes_ + size, 0xa5, kGuard);
  }
  Buffer(Buffer&& other) noexcept : size_(other.size_), bytes_(other.bytes_) { other.bytes_ = nullptr; }
  Buffer(const Buffer&) = delete;
  Buffer& operator=(const Buffer&) = delete;
  ~Buffer() { ::operator delete[](bytes_, std::align_val_t{kAlign}); }
  uint8_t* data() { return bytes_; }
  const uint8_t* data() const { return bytes_; }
  size_t size() const { return size_; }
  bool intact() const {
    for (size_t i = 0; i < kGuard; ++i) {
      if (bytes_[size_ + i] != 0xa5) return false;
    }
    return true;
  }

 private:
  static constexpr size_t kGuard = 256, kAlign = 64;
  static void advise_huge(void* bytes, size_t size);
  size_t size_;
  uint8_t* bytes_;
};

// xorshift64*: the same numbers everywhere.
class Random {
 public:
  explicit Random(uint64_t seed) : state_(seed * 0x9e3779b97f4a7c15u + 1) {}
  uint64_t next() {
    state_ ^= state_ >> 12;
    state_ ^= state_ << 25;
    state_ ^= state_ >> 27;
    return state_ * 0x2545f4914f6cdd1du;
  }
  double uniform() { return static_cast<double>(next() >> 11) * 0x1p-53; }  // [0, 1)
  float normal() {
    double sum = -6;
    for (int i = 0; i < 12; ++i) sum += uniform();
    return static_cast<float>(sum);
  }

 private:
  uint64_t state_;
};

struct Layout {
  const char* quant;
  int64_t block, bytes;
  // Byte offsets of the half-precision scales (and minima) of a block.
  std::vector<int64_t> halves = {0};
  // Has a second decoder in exact_values. Without one, the golden blocks alone say what the reference must give.
  bool described = true;
  // Byte offsets of the upper nibbles that together are the scale, lowest first, where it is no half of its own.
  std::vector<int64_t> nibbles = {};

  // false: its scales are finite whatever their bits
  bool has_half() const { return !halves.empty() || !nibbles.empty(); }
};
const Layout& layout(const std::string& quant);
// Writes a block's first half-precision scale.
void set_scale(const Layout& form, uint8_t* block, uint16_t half);

uint16_t half_bits(float value);
float half_value(uint16_t bits);

// GGUF blocks of `count` weights with scales of the size that real weights have.
std::vector<uint8_t> random_blocks(Random& random, const std::string& quant, int64_t count);
std::vector<float> random_floats(Random& random, int64_t count);

// Exact values of GGUF blocks, written from the format's description and nothing else. Formats that are not `described`
// go through the reference dequantiser, which the golden blocks hold.
std::vector<double> exact_values(const std::string& quant, const uint8_t* blocks, int64_t count);

// The features of the variant that this processor lacks, separated by spaces; empty: it can run.
std::string missing_features(const char* variant);

}  // namespace halogen::test
