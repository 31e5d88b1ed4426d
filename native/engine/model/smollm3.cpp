// Architecture "smollm3": every fourth layer attends without rope.
#include "native/engine/model/dense.h"

namespace halogen::model {

Description describe_smollm3(const Header& header) {
  Dense kind;
  kind.rotates = [](int64_t layer) { return (layer + 1) % 4 != 0; };
  return describe_dense(header, kind);
}

}  // namespace halogen::model
