#include "native/engine/model/dense.h"

namespace halogen::model {
namespace {

// The rows of a tensor that says its own width: files give it under several keys, or under none.
int64_t rows_of(const Header& header, const std::string& name) {
  const gguf::Tensor* tensor = header.file().tensor(name);
  return tensor != nullptr && tensor->shape[1] <= (1 << 22) ? static_cast<int64_t>(tensor->shape[1]) : 1;
}

// One tensor, or in the first Mixtral files one an expert.
std::vector<Matrix> expert_matrices(const Header& header, const std::string& base, int64_t columns, int64_t rows,
                                    int64_t count) {
  if (header.file().tensor(base + "_exps.weight") != nullptr || header.file().tensor(base + ".0.weight") == nullptr) {
    return header.stack(base + "_exps", columns, rows, count);
  }
  std::vector<Matrix> matrices;
  for (int64_t i = 0; i < count; ++i) {
    matrices.push_back(header.matrix(base + "." + std::to_string(i) + ".weight", columns, rows));
    if (matrices[0].tensor->type_id != matrices.back().tensor->type_id) header.unsupported("experts of several formats");
  }
  return matrices;
}

}  // namespace

void describe_experts(const Header& header, const std::string& block, int64_t embedding, const Mixture& kind,
                      Layer& layer) {
  Experts& experts = layer.experts;
  const int64_t count = header.whole("expert_count", 1, 1 << 14);
  const int64_t gating = header.whole_or("expert_gating_func", kind.gating == Gating::softmax ? 1 : 2, 0, 100);
  if (gating < 1 || gating > 3) header.unsupported("expert gating function " + std::to_string(gating));
  experts.choice.used = header.whole("expert_used_count", 1, count);
  const int64_t groups = std::max<int64_t>(header.whole_or("expert_group_count", 1, 0, count), 1);
  if (groups > 1) {
    experts.choice.groups = groups;
    experts.choice.used_groups = header.whole("expert_group_used_count", 1, groups);
    if (count % groups != 0 || experts.choice.used > count / groups * experts.choice.used_groups) {
      header.unsupported(std::to_string(count) + " experts in " + std::to_string(groups) + " groups");
    }
  }
  experts.choice.gating = gating == 2 ? Gating::sigmoid : Gating::softmax;
  // 3: a softmax over the chosen, which is theirs over all, divided by their sum.
  experts.choice.normalised = gating == 3 || header.boolean_or("expert_weights_norm", kind.normalised);
  experts.choice.scale = static_cast<float>(header.real_or("expert_weights_scale", 1, 0, 1e6));
  experts.router = header.matrix_with_bias(block + "ffn_gate_inp", embedding, count);
  experts.choice_bias = header.vector_or_null(block + "exp_probs_b.bias", count);

  // One tensor may hold, for each expert, the rows of its gate and then those of up.
  const std::string joined = block + "ffn_gate_up_exps";
  const bool together = header.file().tensor(joined + ".weight") != nullptr;
  const bool each_alone = header.file().tensor(block + "ffn_gate.0.weight") != nullptr;
  const int64_t width = together ? rows_of(header, joined + ".weight") / 2
                                 : rows_of(header, block + (each_alone ? "ffn_gate.0.weight" : "ffn_gate_exps.weight"));
  std::vector<Matrix> gate, up;
  if (together) {
    gate = up = header.stack(joined, embedding, 2 * width, count);
    for (Matrix& each : gate) each.rows = width;
    for (Matrix& each : up) each.rows = width, each.first_row += width, each.first_bias += width;
  } else {
    gate = expert_matrices(header, block + "ffn_gate", embedding, width, count);
    up = expert_matrices(header, block + "ffn_up", embedding, width, count);
  }
  const std::vector<Matrix> down = expert_matrices(header, block + "ffn_down", width, embedding, count);
  for (size_t i = 0; i < gate.size(); ++i) {
    experts.each.push_back({layer.feed_forward.activation, gate[i], up[i], down[i]});
  }

  if (header.file().tensor(block + "ffn_gate_shexp.weight") == nullptr) return;
  const int64_t shared = rows_of(header, block + "ffn_gate_shexp.weight");
  layer.feed_forward.gate = header.matrix(block + "ffn_gate_shexp.weight", embedding, shared);
  layer.feed_forward.up = header.matrix(block + "ffn_up_shexp.weight", embedding, shared);
  layer.feed_forward.down = header.matrix(block + "ffn_down_shexp.weight", shared, embedding);
  if (header.file().tensor(block + "ffn_gate_inp_shexp.weight") != nullptr) {
    layer.shared_gate = header.matrix(block + "ffn_gate_inp_shexp.weight", embedding, 1);
  }
}

}  // namespace halogen::model
