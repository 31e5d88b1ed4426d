// Architecture "qwen3": Qwen3 without experts, and the text of "qwen3vl". Each query and key head is normalised before rope.
#include "native/engine/model/dense.h"

namespace halogen::model {

Description describe_qwen3(const Header& header) {
  Dense kind;
  kind.pairing = Pairing::halves;
  kind.head_norms = true;
  return describe_dense(header, kind);
}

}  // namespace halogen::model
