// Architecture "qwen3moe": Qwen3 with experts, and the text of "qwen3vlmoe".
#include "native/engine/model/dense.h"

namespace halogen::model {

Description describe_qwen3moe(const Header& header) {
  Dense kind;
  kind.pairing = Pairing::halves;
  kind.head_norms = true;
  kind.mixture.emplace();
  return describe_dense(header, kind);
}

}  // namespace halogen::model
