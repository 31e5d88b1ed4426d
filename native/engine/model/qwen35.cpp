// Architecture "qwen35": Qwen3.5 to 3.8, dense: Gated DeltaNet with gated attention in every fourth layer.
#include "native/engine/model/hybrid.h"

namespace halogen::model {

Description describe_qwen35(const Header& header) {
  return describe_hybrid(header, {.tiled = true});
}

}  // namespace halogen::model
