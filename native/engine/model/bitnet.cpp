// Architecture "bitnet": BitNet b1.58. Ternary weights; a norm before what attention and feed-forward end with.
#include "native/engine/model/dense.h"

namespace halogen::model {

Description describe_bitnet(const Header& header) {
  Dense kind;
  kind.pairing = Pairing::halves;
  kind.inner_norms = true;
  return describe_dense(header, kind);
}

}  // namespace halogen::model
