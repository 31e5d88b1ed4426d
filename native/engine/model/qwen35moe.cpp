// Architecture "qwen35moe": Qwen3.5 to 3.8 with experts and a shared one.
#include "native/engine/model/hybrid.h"

namespace halogen::model {

Description describe_qwen35moe(const Header& header) {
  return describe_hybrid(header, {.experts = true, .tiled = true});
}

}  // namespace halogen::model
