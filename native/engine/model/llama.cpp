// Architecture "llama": Llama 1 to 3.x, SmolLM2, Mistral, TinyLlama.
#include "native/engine/model/dense.h"

namespace halogen::model {

Description describe_llama(const Header& header) {
  return describe_dense(header, {});
}

}  // namespace halogen::model
