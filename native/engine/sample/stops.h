// Ends a generation at a sequence of tokens, and says how much may be delivered meanwhile.
#pragma once
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

namespace halogen::sample {

class Stops {
 public:
  explicit Stops(std::vector<std::vector<int32_t>> sequences) : sequences_(std::move(sequences)) {}

  struct Found {
    size_t index;   // of the sequence
    size_t length;  // of its tokens
  };
  // The longest sequence that `generated` ends with and that leaves at least `least` tokens before it.
  std::optional<Found> ending(std::span<const int32_t> generated, size_t least) const;
  // How many of the last tokens may be the beginning of a sequence.
  size_t held(std::span<const int32_t> generated) const;

 private:
  std::vector<std::vector<int32_t>> sequences_;
};

}  // namespace halogen::sample
