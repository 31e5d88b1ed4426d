// Architectures "bitnet", 1bitLLM's BitNet b1.58, and "bitnet-b1.58" (once "bitnet-25"), Microsoft's own with a squared
// ReLU. Ternary weights; a norm before what attention and feed-forward end with.
#include "native/engine/error.h"
#include "native/engine/model/dense.h"

namespace halogen::model {
namespace {

Dense bitnet() {
  Dense kind;
  kind.pairing = Pairing::halves;
  kind.inner_norms = true;
  return kind;
}

}  // namespace

Description describe_bitnet(const Header& header) {
  return describe_dense(header, bitnet());
}

Description describe_bitnet_squared(const Header& header) {
  Dense kind = bitnet();
  kind.activation = Gate::squared;
  return describe_dense(header, kind);
}

}  // namespace halogen::model
