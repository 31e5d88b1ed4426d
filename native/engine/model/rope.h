// Rotary embeddings as files describe them, and the angles that follow.
#pragma once
#include <span>
#include <vector>

#include "native/engine/model/header.h"

namespace halogen::model {

// What rope.* keys say of every layer, but `rotated` and `factors`. Scaling types: none, linear, yarn, longrope.
Rope read_rope(const Header& header, Pairing pairing);

// Whether a load with this context takes the long of two sets of factors. Once for a load, so that keys stored earlier
// stay valid however long a sequence grows.
bool takes_long_factors(const Rope& rope, uint64_t context);

// Radians per position of each rotated pair. `factors`: one a pair, or none.
// YaRN: Peng et al. 2023, arXiv 2309.00071, section 3.2, with the borders as `transformers` computes them.
std::vector<double> rope_frequencies(const Rope& rope, std::span<const float> factors);

}  // namespace halogen::model
