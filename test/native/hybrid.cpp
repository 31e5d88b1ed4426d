#include "test/native/hybrid.h"

#include <cmath>

namespace halogen::test {
namespace {

constexpr int64_t vocabulary = 96, width = 64, heads = 4, kv_heads = 2, head_dim = 16, inner = 48, experts = 4;
constexpr int64_t key_heads = 2, value_heads = 4, state = 16, ratio = value_heads / key_heads;
constexpr int64_t keys = key_heads * state, values = value_heads * state;

using Floats = std::vector<float>;

class Tensors {
 public:
  Tensors(GgufMaker& maker, uint64_t seed) : maker_(maker), random_(seed) {}

  Floats make(int64_t count, float size, float centre = 0) {
    Floats made(static_cast<size_t>(count));
    for (float& value : made) value = centre + size * random_.normal();
    return made;
  }
  void put_in(const std::string& name, std::vector<uint64_t> shape, const Floats& floats) {
    Bytes bytes;
    for (const float value : floats) put(bytes, value);
    maker_.tensor(name, std::move(shape), 0, std::move(bytes));
  }
  void add(const std::string& name, int64_t columns, int64_t rows, float size, float centre = 0) {
    std::vector<uint64_t> shape{static_cast<uint64_t>(columns)};
    if (rows > 1) shape.push_back(static_cast<uint64_t>(rows));
    put_in(name, shape, make(columns * rows, size, centre));
  }

 private:
  GgufMaker& maker_;
  Random random_;
};

void append_rows(Floats& to, const Floats& from, int64_t first, int64_t rows, int64_t columns) {
  to.insert(to.end(), from.begin() + first * columns, from.begin() + (first + rows) * columns);
}

void add_delta_net(Tensors& tensors, const HybridShape& shape, const std::string& block, float narrow) {
  const Floats mixed = tensors.make(width * (2 * keys + values), narrow), gate = tensors.make(width * values, narrow);
  if (shape.joined_inputs) {
    Floats joined;
    for (int64_t h = 0; h < key_heads; ++h) {
      append_rows(joined, mixed, h * state, state, width);
      append_rows(joined, mixed, keys + h * state, state, width);
      append_rows(joined, mixed, 2 * keys + h * ratio * state, ratio * state, width);
      append_rows(joined, gate, h * ratio * state, ratio * state, width);
    }
    tensors.put_in(block + "ssm_in.weight", {width, 2 * keys + 2 * values}, joined);
  } else {
    tensors.put_in(block + "attn_qkv.weight", {width, 2 * keys + values}, mixed);
    tensors.put_in(block + "attn_gate.weight", {width, values}, gate);
  }
  if (shape.architecture == "qwen3next") {
    tensors.add(block + "ssm_ba.weight", width, 2 * value_heads, narrow);
  } else {
    tensors.add(block + "ssm_beta.weight", width, value_heads, narrow);
    tensors.add(block + "ssm_alpha.weight", width, value_heads, narrow);
  }
  tensors.add(block + "ssm_conv1d.weight", 4, 2 * keys + values, 0.5f);
  tensors.add(block + "ssm_dt.bias", value_heads, 1, 0.5f);
  tensors.add(block + "ssm_a", value_heads, 1, 0.02f, -0.1f);
  tensors.add(block + "ssm_norm.weight", state, 1, 0.1f, 1);
  tensors.add(block + "ssm_out.weight", values, width, 2 * narrow);
}

void add_attention(Tensors& tensors, const std::string& block, float narrow) {
  tensors.add(block + "attn_q.weight", width, 2 * heads * head_dim, 2 * narrow);
  tensors.add(block + "attn_k.weight", width, kv_heads * head_dim, 2 * narrow);
  tensors.add(block + "attn_v.weight", width, kv_heads * head_dim, narrow);
  tensors.add(block + "attn_output.weight", heads * head_dim, width, narrow);
  tensors.add(block + "attn_q_norm.weight", head_dim, 1, 0.1f, 1);
  tensors.add(block + "attn_k_norm.weight", head_dim, 1, 0.1f, 1);
}

void add_experts(Tensors& tensors, const HybridShape& shape, const std::string& block, float narrow) {
  tensors.add(block + "ffn_gate_inp.weight", width, experts, narrow);
  const Floats gate = tensors.make(width * inner * experts, narrow), up = tensors.make(width * inner * experts, narrow);
  if (shape.joined_experts) {
    Floats joined;
    for (int64_t e = 0; e < experts; ++e) {
      append_rows(joined, gate, e * inner, inner, width);
      append_rows(joined, up, e * inner, inner, width);
    }
    tensors.put_in(block + "ffn_gate_up_exps.weight", {width, 2 * inner, experts}, joined);
  } else {
    tensors.put_in(block + "ffn_gate_exps.weight", {width, inner, experts}, gate);
    tensors.put_in(block + "ffn_up_exps.weight", {width, inner, experts}, up);
  }
  tensors.put_in(block + "ffn_down_exps.weight", {inner, width, experts},
                 tensors.make(width * inner * experts, narrow));
  tensors.add(block + "ffn_gate_inp_shexp.weight", width, 1, narrow);
  tensors.add(block + "ffn_gate_shexp.weight", width, inner, narrow);
  tensors.add(block + "ffn_up_shexp.weight", width, inner, narrow);
  tensors.add(block + "ffn_down_shexp.weight", inner, width, narrow);
}

}  // namespace

GgufMaker tiny_hybrid(const HybridShape& shape, uint64_t seed) {
  GgufMaker maker;
  const std::string prefix = shape.architecture + ".";
  const bool moe = shape.architecture != "qwen35";
  maker.key_string("general.architecture", shape.architecture);
  const std::pair<const char*, int64_t> numbers[] = {{"block_count", shape.layers + shape.predicting},
                                                     {"context_length", shape.context},
                                                     {"embedding_length", width},
                                                     {"feed_forward_length", inner},
                                                     {"attention.head_count", heads},
                                                     {"attention.head_count_kv", kv_heads},
                                                     {"attention.key_length", head_dim},
                                                     {"attention.value_length", head_dim},
                                                     {"rope.dimension_count", head_dim / 2},
                                                     {"full_attention_interval", 4},
                                                     {"ssm.conv_kernel", 4},
                                                     {"ssm.state_size", state},
                                                     {"ssm.group_count", key_heads},
                                                     {"ssm.time_step_rank", value_heads},
                                                     {"ssm.inner_size", values}};
  for (const auto& [name, value] : numbers) maker.key_u32(prefix + name, static_cast<uint32_t>(value));
  if (shape.predicting > 0) maker.key_u32(prefix + "nextn_predict_layers", static_cast<uint32_t>(shape.predicting));
  if (moe) {
    maker.key_u32(prefix + "expert_count", experts);
    maker.key_u32(prefix + "expert_used_count", 2);
  }
  maker.key_f32(prefix + "attention.layer_norm_rms_epsilon", 1e-6f);
  maker.key_f32(prefix + "rope.freq_base", 10000);
  std::vector<std::string> tokens;
  for (int64_t i = 0; i < vocabulary; ++i) tokens.push_back("t" + std::to_string(i));
  maker.key_strings("tokenizer.ggml.tokens", tokens);

  Tensors tensors(maker, seed);
  const float narrow = 1 / std::sqrt(static_cast<float>(width));
  tensors.add("token_embd.weight", width, vocabulary, 1);
  tensors.add("output_norm.weight", width, 1, 0.1f, 1);
  for (int64_t i = 0; i < shape.layers + shape.predicting; ++i) {
    const std::string block = "blk." + std::to_string(i) + ".";
    const bool predicts = i >= shape.layers;
    tensors.add(block + "attn_norm.weight", width, 1, 0.1f, 1);
    tensors.add(block + "post_attention_norm.weight", width, 1, 0.1f, 1);
    if (predicts || (i + 1) % 4 == 0) {
      add_attention(tensors, block, narrow);
    } else {
      add_delta_net(tensors, shape, block, narrow);
    }
    if (moe) {
      add_experts(tensors, shape, block, narrow);
    } else {
      tensors.add(block + "ffn_gate.weight", width, inner, narrow);
      tensors.add(block + "ffn_up.weight", width, inner, narrow);
      tensors.add(block + "ffn_down.weight", inner, width, narrow);
    }
    if (!predicts) continue;
    tensors.add(block + "nextn.eh_proj.weight", 2 * width, width, narrow);
    tensors.add(block + "nextn.enorm.weight", width, 1, 0.1f, 1);
    tensors.add(block + "nextn.hnorm.weight", width, 1, 0.1f, 1);
  }
  return maker;
}

}  // namespace halogen::test
