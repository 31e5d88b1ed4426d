// The decoder most families share: pre-norm, grouped-query attention with rope, SiLU-gated feed-forward.
#pragma once
#include <functional>
#include <optional>

#include "native/engine/model/architecture.h"

namespace halogen::model {

// What a family's experts are where the file does not say. A layer has experts where it has a router.
struct Mixture {
  Gating gating = Gating::softmax;
  bool normalised = true;
  bool beside = false;  // every layer with experts has the usual feed-forward too
};

// Layers that see a window only; they take the keys named *_swa.
struct Sliding {
  std::vector<bool> layers;  // whether each slides
  int64_t window = 0;
  double base = 0;     // of rope where the file says none; 0: as in the others
  bool scaled = true;  // rope is scaled as in the others
};

struct Dense {
  Pairing pairing = Pairing::adjacent;
  bool head_norms = false;      // RMS norms of each query and key head, before rope
  bool output_norms = false;    // of what attention and feed-forward add
  bool inner_norms = false;     // before what attention and feed-forward end with
  bool output_gate = false;     // attn_q holds, for each head, the rows of its query and then of its gate
  bool gate_within_up = false;  // the rows of the gate come first in ffn_up
  Gate activation = Gate::silu;
  const char* feed_forward_norm = "ffn_norm";
  std::optional<Mixture> mixture = {};
  std::optional<Sliding> sliding = {};
  bool value_from_key = false;  // where there is no attn_v
  // Last word on one layer's attention, whose numbers come from the file: window, rope, scale.
  std::function<void(int64_t layer, Attention& attention)> adjust = {};
  // Reads another mixer in place of attention. False: this layer has attention.
  std::function<bool(int64_t layer, const std::string& block, Layer& to)> mixer = {};
};

// Tied heads, biases, sinks, rope factors and scaling, and per-layer sizes come from the file. Keys longer than values
// are refused as not known yet, and experts where `kind` has no mixture.
Description describe_dense(const Header& header, const Dense& kind);

// The experts of one layer and the feed-forward beside them, where there is one.
void describe_experts(const Header& header, const std::string& block, int64_t embedding, const Mixture& kind,
                      Layer& layer);

}  // namespace halogen::model
