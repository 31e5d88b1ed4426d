// Architecture "phi3": Phi-3, Phi-3.5 and Phi-4. Projections joined in one tensor, the gate joined with up.
#include "native/engine/model/dense.h"

namespace halogen::model {

Description describe_phi3(const Header& header) {
  const int64_t window = header.whole_or("attention.sliding_window", 0, 0, int64_t{1} << 31);
  Dense kind;
  kind.pairing = Pairing::halves;
  kind.gate_within_up = true;
  kind.adjust = [window](int64_t, Attention& attention) { attention.window = window; };
  return describe_dense(header, kind);
}

}  // namespace halogen::model
