// Architecture "qwen3next": Qwen3-Next: experts, value heads in the makers' order.
#include "native/engine/model/hybrid.h"

namespace halogen::model {

Description describe_qwen3next(const Header& header) {
  return describe_hybrid(header, {.experts = true, .beta_step = true});
}

}  // namespace halogen::model
