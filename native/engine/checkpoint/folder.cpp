#include "native/engine/checkpoint/folder.h"

#include <cmath>
#include <filesystem>

#include "native/engine/checkpoint/builder.h"
#include "native/engine/checkpoint/config.h"
#include "native/engine/error.h"

namespace halogen::checkpoint {
namespace {

constexpr uint64_t most_layers = 1000, most_experts = 1 << 14;

float plus_one(float value) {
  return value + 1;
}
float as_is(float value) {
  return value;
}
float decay(float value) {
  return -std::exp(value);
}

// Qwen3.5: norms are stored without the one that is added to them (but the one of Gated DeltaNet); value heads stand in
// groups by their key head.
struct Qwen {
  Builder& builder;
  const Config& config;
  std::string root;  // of the names
  bool experts;
  bool tied;

  void keys(const std::string& architecture) const {
    const auto key = [&](const char* name) { return architecture + "." + name; };
    const uint64_t layers = config.whole("num_hidden_layers", most_layers);
    builder.key(key("block_count"), layers);
    builder.key(key("context_length"), config.whole("max_position_embeddings"));
    builder.key(key("embedding_length"), config.whole("hidden_size"));
    builder.key(key("vocab_size"), config.whole("vocab_size"));
    builder.key(key("attention.head_count"), config.whole("num_attention_heads"));
    builder.key(key("attention.head_count_kv"), config.whole("num_key_value_heads"));
    builder.key(key("attention.key_length"), config.whole("head_dim"));
    builder.key(key("attention.value_length"), config.whole("head_dim"));
    builder.key(key("attention.layer_norm_rms_epsilon"), config.real("rms_norm_eps"));
    const Config rope = config.inner("rope_parameters");
    const double part = rope.real_or("partial_rotary_factor", config.real_or("partial_rotary_factor", 0.25));
    const double rotated = part * static_cast<double>(config.whole("head_dim"));
    builder.key(key("rope.dimension_count"), rotated >= 0 && rotated < 1e6 ? static_cast<uint64_t>(rotated) : 0);
    builder.key(key("rope.freq_base"), rope.real_or("rope_theta", config.real_or("rope_theta", 1e7)));
    const std::string scaling = rope.text_or("rope_type", "default");
    if (scaling != "default") builder.key(key("rope.scaling.type"), scaling);
    builder.key(key("ssm.conv_kernel"), config.whole("linear_conv_kernel_dim"));
    builder.key(key("ssm.state_size"), config.whole("linear_key_head_dim"));
    builder.key(key("ssm.group_count"), config.whole("linear_num_key_heads"));
    builder.key(key("ssm.time_step_rank"), config.whole("linear_num_value_heads"));
    builder.key(key("ssm.inner_size"), config.whole("linear_value_head_dim") * config.whole("linear_num_value_heads"));
    builder.flag(key("ssm.grouped"), true);
    builder.key(key("attention.recurrent_layers"), recurrent(layers));
    if (experts) {
      builder.key(key("expert_count"), config.whole("num_experts", most_experts));
      builder.key(key("expert_used_count"), config.whole("num_experts_per_tok"));
    } else {
      builder.key(key("feed_forward_length"), config.whole("intermediate_size"));
    }
  }

  std::vector<bool> recurrent(uint64_t layers) const {
    std::vector<bool> result;
    const std::vector<std::string> types = config.texts("layer_types");
    const uint64_t interval = std::max<uint64_t>(config.whole_or("full_attention_interval", 4), 1);
    for (uint64_t i = 0; i < layers; ++i)
      result.push_back(i < types.size() ? types[i] == "linear_attention" : (i + 1) % interval != 0);
    return result;
  }

  void tensors() const {
    builder.tensor("token_embd.weight", root + "embed_tokens.weight");
    builder.vector("output_norm.weight", root + "norm.weight", plus_one);
    if (!tied) builder.matrix("output.weight", "lm_head");
    const uint64_t layers = config.whole("num_hidden_layers", most_layers);
    const std::vector<bool> mixes = recurrent(layers);
    for (uint64_t i = 0; i < layers; ++i) {
      const std::string to = "blk." + std::to_string(i) + ".", from = root + "layers." + std::to_string(i) + ".";
      builder.vector(to + "attn_norm.weight", from + "input_layernorm.weight", plus_one);
      builder.vector(to + "post_attention_norm.weight", from + "post_attention_layernorm.weight", plus_one);
      if (mixes[i])
        delta_net(to, from + "linear_attn.");
      else
        attention(to, from + "self_attn.");
      feed_forward(to, from + "mlp.");
    }
  }

  void attention(const std::string& to, const std::string& from) const {
    builder.matrix(to + "attn_q.weight", from + "q_proj");
    builder.matrix(to + "attn_k.weight", from + "k_proj");
    builder.matrix(to + "attn_v.weight", from + "v_proj");
    builder.matrix(to + "attn_output.weight", from + "o_proj");
    builder.vector(to + "attn_q_norm.weight", from + "q_norm.weight", plus_one);
    builder.vector(to + "attn_k_norm.weight", from + "k_norm.weight", plus_one);
  }

  void delta_net(const std::string& to, const std::string& from) const {
    const uint64_t keys = config.whole("linear_num_key_heads") * config.whole("linear_key_head_dim");
    const uint64_t values = config.whole("linear_num_value_heads") * config.whole("linear_value_head_dim");
    builder.matrix(to + "attn_qkv.weight", from + "in_proj_qkv");
    builder.matrix(to + "attn_gate.weight", from + "in_proj_z");
    builder.matrix(to + "ssm_alpha.weight", from + "in_proj_a");
    builder.matrix(to + "ssm_beta.weight", from + "in_proj_b");
    builder.matrix(to + "ssm_out.weight", from + "out_proj");
    builder.tensor(to + "ssm_conv1d.weight", from + "conv1d.weight",
                   {config.whole("linear_conv_kernel_dim"), 2 * keys + values});
    builder.vector(to + "ssm_dt.bias", from + "dt_bias", as_is);
    builder.vector(to + "ssm_a", from + "A_log", decay);
    builder.vector(to + "ssm_norm.weight", from + "norm.weight", as_is);
  }

  void feed_forward(const std::string& to, const std::string& from) const {
    if (!experts) {
      for (const char* part : {"gate", "up", "down"})
        builder.matrix(to + "ffn_" + part + ".weight", from + part + "_proj");
      return;
    }
    builder.matrix(to + "ffn_gate_inp.weight", from + "gate");
    const uint64_t count = config.whole("num_experts", most_experts);
    for (const char* part : {"gate", "up", "down"}) {
      std::vector<std::string> each;
      for (uint64_t e = 0; e < count; ++e) each.push_back(from + "experts." + std::to_string(e) + "." + part + "_proj");
      const char* rotation = part[0] == 'd' ? "experts.down_weight_" : "experts.gate_up_weight_";
      builder.experts(to + "ffn_" + part + "_exps.weight", each, from + rotation);
      builder.matrix(to + "ffn_" + part + "_shexp.weight", from + "shared_expert." + part + "_proj");
    }
    builder.tensor(to + "ffn_gate_inp_shexp.weight", from + "shared_expert_gate.weight");
  }
};

// The sampling that its makers advise, as GGUF's keys.
void sampling(Builder& builder, const std::string& folder) {
  const Config hints = Config::read(folder, "generation_config.json", false);
  for (const auto& [from, to] : {std::pair("temperature", "temp"), {"top_p", "top_p"}, {"min_p", "min_p"}}) {
    const double value = hints.real_or(from, -1);
    if (value >= 0) builder.key(std::string("general.sampling.") + to, value);
  }
  const uint64_t top_k = hints.whole_or("top_k", 0);
  if (top_k > 0) builder.key("general.sampling.top_k", top_k);
}

void check_quantisation(const Config& config) {
  const Config found = config.inner("quantization_config");
  if (found.empty()) return;
  const std::string method = found.text_or("quant_method", "");
  const uint64_t bits = found.whole_or("bits", 4), group = found.whole_or("group_size", gguf::Rotation::group);
  if (method == "paroquant" && bits == 4 && group == gguf::Rotation::group) return;
  throw Error(code::model_unsupported_format,
              "This model is fine; Halogen does not know the weight format \"" + method + "\" with " +
                  std::to_string(bits) + " bits in groups of " + std::to_string(group) + ".",
              "Download this model as GGUF, or as ParoQuant with 4 bits in groups of 128.",
              {{"format", method}, {"bits", bits}, {"group", group}});
}

}  // namespace

bool is_folder(const std::string& path) {
  std::error_code ignored;
  return path.find('\0') == std::string::npos && std::filesystem::is_directory(path, ignored) &&
         std::filesystem::is_regular_file(path + "/config.json", ignored);
}

gguf::File open(const std::string& folder) {
  const Config all = Config::read(folder, "config.json", true);
  check_quantisation(all);
  const Config inner = all.inner("text_config");
  const Config& config = inner.empty() ? all : inner;
  const std::string kind = config.text_or("model_type", "");
  const bool experts = kind == "qwen3_5_moe" || kind == "qwen3_5_moe_text";
  if (!experts && kind != "qwen3_5" && kind != "qwen3_5_text") {
    throw Error(code::model_unknown_architecture,
                "This model is fine; Halogen does not know \"" + kind + "\" models as safetensors yet.",
                "Download it as GGUF.", {{"architecture", kind}, {"known", "qwen3_5, qwen3_5_moe"}});
  }
  const std::string architecture = experts ? "qwen35moe" : "qwen35";
  Builder builder(folder);
  builder.key("general.architecture", architecture);
  builder.key("general.name", std::filesystem::path(folder).lexically_normal().filename().string());
  sampling(builder, folder);
  if (const std::string text = chat_template(folder); !text.empty()) builder.key("tokenizer.chat_template", text);
  const bool within = builder.stored().find("model.language_model.embed_tokens.weight") != nullptr;
  const Qwen qwen{builder, config, within ? "model.language_model." : "model.", experts,
                  config.flag_or("tie_word_embeddings", all.flag_or("tie_word_embeddings", false))};
  qwen.keys(architecture);
  qwen.tensors();
  return builder.finish(folder);
}

}  // namespace halogen::checkpoint
