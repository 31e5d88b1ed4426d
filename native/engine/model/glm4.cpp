// Architecture "glm4": GLM-4 0414. Norms before and after each part, rope over half of each head, the gate joined with
// up.
#include "native/engine/model/dense.h"

namespace halogen::model {

Description describe_glm4(const Header& header) {
  if (header.file().find(header.key("rope.dimension_sections")) != nullptr) header.unsupported("rope in sections");
  Dense kind;
  kind.output_norms = true;
  kind.gate_within_up = true;
  return describe_dense(header, kind);
}

}  // namespace halogen::model
