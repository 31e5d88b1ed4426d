// Architecture "smollm3": every fourth layer attends without rope.
#include "native/engine/model/dense.h"

namespace halogen::model {

Description describe_smollm3(const Header& header) {
  Dense kind;
  kind.adjust = [](int64_t layer, Attention& attention) {
    if ((layer + 1) % 4 == 0) attention.rope.rotated = 0;
  };
  return describe_dense(header, kind);
}

}  // namespace halogen::model
