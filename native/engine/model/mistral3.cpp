// Architecture "mistral3": Mistral Small 3.1 and later, Ministral 3. As llama; queries may grow with their position.
#include "native/engine/model/dense.h"

namespace halogen::model {

Description describe_mistral3(const Header& header) {
  const auto growth = static_cast<float>(header.real_or("attention.temperature_scale", 0, 0, 1e3));
  Dense kind;
  kind.mixture.emplace();
  kind.adjust = [growth](int64_t, Attention& attention) {
    attention.growth = growth;
    attention.growth_step = attention.rope.original;
  };
  return describe_dense(header, kind);
}

}  // namespace halogen::model
