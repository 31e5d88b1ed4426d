// Architecture "gemma3": Gemma 3. Norms before and after each part, GELU, and layers of a sliding window between full
// ones.
#include <cmath>

#include "native/engine/model/dense.h"

namespace halogen::model {

Description describe_gemma3(const Header& header) {
  const int64_t layers = header.whole("block_count", 1, 1000);

  Dense kind;
  kind.pairing = Pairing::halves;
  kind.head_norms = true;
  kind.output_norms = true;
  kind.activation = Gate::gelu;
  // Converters leave the window out where no layer slides.
  const int64_t window = header.whole_or("attention.sliding_window", 0, 0, int64_t{1} << 31);
  if (window > 0) kind.sliding = {header.sliding_layers(layers, 6), window, 10000, false};
  kind.adjust = [&](int64_t, Attention& attention) {
    // The 27B, known by its depth as in the makers' code, scales queries by the width per head instead of the head.
    if (layers == 62) {
      const double width = static_cast<double>(header.whole("embedding_length", 1, 1 << 20));
      attention.scale = static_cast<float>(1.0 / std::sqrt(width / static_cast<double>(attention.heads)));
    }
  };
  Description model = describe_dense(header, kind);
  model.embedding_scale = std::sqrt(static_cast<float>(model.embedding));
  model.logit_cap = static_cast<float>(header.real_or("final_logit_softcapping", 0, 0, 1e6));
  return model;
}

}  // namespace halogen::model
