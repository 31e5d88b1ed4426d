// Architecture "gpt-oss": attention with sinks, every other layer within a window; biases everywhere; clamped experts.
#include "native/engine/model/dense.h"

namespace halogen::model {

Description describe_gpt_oss(const Header& header) {
  const int64_t layers = header.whole("block_count", 1, 1000);

  Dense kind;
  kind.pairing = Pairing::halves;
  kind.feed_forward_norm = "post_attention_norm";
  kind.activation = Gate::clamped;
  kind.mixture = {Gating::softmax, true};
  kind.sliding = {header.sliding_layers(layers, 2), header.whole("attention.sliding_window", 1, int64_t{1} << 31)};
  // The makers' configuration says `truncate: false`; no key of the file does.
  kind.adjust = [](int64_t, Attention& attention) { attention.rope.whole_borders = false; };
  return describe_dense(header, kind);
}

}  // namespace halogen::model
