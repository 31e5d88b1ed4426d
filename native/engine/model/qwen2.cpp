// Architecture "qwen2": Qwen2, Qwen2.5 and the distillations onto them, and "qwen2vl", whose positions have several
// parts that are equal for text. Biases on query, key and value.
#include "native/engine/model/dense.h"

namespace halogen::model {

Description describe_qwen2(const Header& header) {
  Dense kind;
  kind.pairing = Pairing::halves;
  return describe_dense(header, kind);
}

}  // namespace halogen::model
