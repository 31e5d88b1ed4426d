// Architecture "glm4moe": GLM-4.5 to 4.7. Experts by sigmoid scores, chosen with a bias; the first layers have none.
#include "native/engine/model/dense.h"

namespace halogen::model {

Description describe_glm4moe(const Header& header) {
  Dense kind;
  kind.pairing = Pairing::halves;
  kind.head_norms = header.file().tensor("blk.0.attn_q_norm.weight") != nullptr;
  kind.feed_forward_norm = "post_attention_norm";
  kind.mixture = {Gating::sigmoid, true};
  return describe_dense(header, kind);
}

}  // namespace halogen::model
