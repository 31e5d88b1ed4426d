// Gated DeltaNet layers with an attention layer in between, whose heads have output gates.
#pragma once
#include "native/engine/model/dense.h"

namespace halogen::model {

struct Hybrid {
  bool experts = false;
  bool tiled = false;      // order of the value heads, see DeltaNet
  bool beta_step = false;  // ssm_ba holds, for each key head, the rows of beta and then those of the step
};

// Which layers have attention comes from the file: attention.recurrent_layers, or each full_attention_interval-th.
Description describe_hybrid(const Header& header, const Hybrid& kind);

}  // namespace halogen::model
