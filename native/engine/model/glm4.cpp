// Architecture "glm4": GLM-4 0414 and the text of GLM-4.1V. Norms before and after each part, rope over half of each
// head, the gate joined with up.
#include "native/engine/model/dense.h"

namespace halogen::model {

Description describe_glm4(const Header& header) {
  Dense kind;
  // The vision models' positions have several parts, which are equal for text; their files hold rows in order of
  // halves.
  if (header.whole_at("rope.dimension_sections", 0, 0, 0, 4096) > 0 &&
      header.whole_at("rope.dimension_sections", 1, 0, 0, 4096) > 0) {
    kind.pairing = Pairing::halves;
  }
  kind.output_norms = true;
  kind.gate_within_up = true;
  return describe_dense(header, kind);
}

}  // namespace halogen::model
