#include "native/engine/sample/stops.h"

#include <algorithm>

namespace halogen::sample {

std::optional<Stops::Found> Stops::ending(std::span<const int32_t> generated, size_t least) const {
  std::optional<Found> found;
  for (size_t i = 0; i < sequences_.size(); ++i) {
    const std::vector<int32_t>& sequence = sequences_[i];
    if (sequence.empty() || sequence.size() + least > generated.size()) continue;
    if (found && sequence.size() <= found->length) continue;
    if (std::ranges::equal(generated.last(sequence.size()), sequence)) found = Found{i, sequence.size()};
  }
  return found;
}

size_t Stops::held(std::span<const int32_t> generated) const {
  size_t most = 0;
  for (const std::vector<int32_t>& sequence : sequences_) {
    if (sequence.empty()) continue;
    for (size_t length = std::min(sequence.size() - 1, generated.size()); length > most; --length) {
      if (std::ranges::equal(generated.last(length), std::span(sequence).first(length))) {
        most = length;
        break;
      }
    }
  }
  return most;
}

}  // namespace halogen::sample
