// Architecture "llama": Llama 1 to 3.x, SmolLM2, Mistral, Mixtral, TinyLlama.
#include "native/engine/model/dense.h"

namespace halogen::model {

Description describe_llama(const Header& header) {
  Dense kind;
  kind.mixture.emplace();
  return describe_dense(header, kind);
}

}  // namespace halogen::model
