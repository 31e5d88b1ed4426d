// The decoder most families share: pre-norm, grouped-query attention with rope, SiLU-gated feed-forward.
#pragma once
#include "native/engine/model/architecture.h"

namespace halogen::model {

struct Dense {
  Pairing pairing = Pairing::adjacent;
  bool head_norms = false;  // RMS norms of each query and key head, before rope
  bool (*rotates)(int64_t layer) = [](int64_t) { return true; };
};

// Tied heads, biases, rope factors, linear rope scaling and per-layer head counts come from the file. Experts, other
// rope scalings and keys longer than values are refused as not known yet.
Description describe_dense(const Header& header, const Dense& kind);

}  // namespace halogen::model
