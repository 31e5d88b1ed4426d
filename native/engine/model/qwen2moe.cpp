// Architecture "qwen2moe": Qwen1.5-MoE and Qwen2 with experts. One more expert serves every token, weighted by a gate
// of its own.
#include "native/engine/model/dense.h"

namespace halogen::model {

Description describe_qwen2moe(const Header& header) {
  Dense kind;
  kind.pairing = Pairing::halves;
  kind.mixture = {Gating::softmax, false};
  return describe_dense(header, kind);
}

}  // namespace halogen::model
