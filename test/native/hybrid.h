// Tiny models with Gated DeltaNet layers.
#pragma once
#include "test/native/maker.h"

namespace halogen::test {

struct HybridShape {
  std::string architecture = "qwen35";  // or qwen35moe, qwen3next
  int64_t layers = 4, context = 256;
  int64_t predicting = 0;       // layers behind the others that predict further tokens
  bool joined_inputs = false;   // ssm_in (qwen3next) instead of attn_qkv and attn_gate
  bool joined_experts = false;  // ffn_gate_up_exps instead of two tensors
};

// Random weights in F32, the same for one seed whether or not tensors are joined. Vocabulary 96, as tiny_llama's.
GgufMaker tiny_hybrid(const HybridShape& shape, uint64_t seed);

}  // namespace halogen::test
