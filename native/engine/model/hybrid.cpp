#include "native/engine/model/hybrid.h"

#include "native/engine/error.h"

namespace halogen::model {
namespace {

// Layers that predict further tokens can be the only ones in a file, as a companion of the model's own file.
void refuse_companion(const Header& header, int64_t predicting) {
  if (predicting == 0 || header.file().tensor("blk.0.attn_norm.weight") != nullptr) return;
  throw Error(code::model_missing_tensor,
              "This file holds only the layers that draft further tokens (MTP), not the model they belong to.",
              "Load the model's main file.", {{"tensor", "blk.0.attn_norm.weight"}, {"draftLayers", predicting}});
}

DeltaNet read_delta_net(const Header& header, const Hybrid& kind, const std::string& block, int64_t embedding) {
  DeltaNet mixer;
  mixer.key_heads = header.whole("ssm.group_count", 1, 1 << 12);
  mixer.value_heads = header.whole("ssm.time_step_rank", 1, 1 << 12);
  mixer.key_dim = header.whole("ssm.state_size", 1, 1 << 12);
  const int64_t inner = header.whole("ssm.inner_size", 1, 1 << 22);
  mixer.taps = header.whole("ssm.conv_kernel", 2, 8);
  // Other containers keep the makers' order.
  mixer.tiled = kind.tiled && !header.boolean_or("ssm.grouped", false);
  if (mixer.value_heads % mixer.key_heads != 0 || inner % mixer.value_heads != 0) {
    header.unsupported(std::to_string(mixer.value_heads) + " value heads over " + std::to_string(mixer.key_heads) +
                       " key heads and " + std::to_string(inner) + " channels");
  }
  mixer.value_dim = inner / mixer.value_heads;
  const int64_t ratio = mixer.value_heads / mixer.key_heads;
  const int64_t keys = mixer.key_heads * mixer.key_dim;
  const int64_t channels = 2 * keys + inner;

  if (const std::string joined = block + "ssm_in.weight"; header.file().tensor(joined) != nullptr) {
    // For each key head the rows of query, key, its values and their gates.
    const int64_t values = ratio * mixer.value_dim, stride = 2 * mixer.key_dim + 2 * values;
    const Matrix all = header.matrix(joined, embedding, mixer.key_heads * stride);
    const auto cut = [&](int64_t first, int64_t rows) {
      return Header::alternate(all, mixer.key_heads, first, rows, stride);
    };
    mixer.query = cut(0, mixer.key_dim);
    mixer.key = cut(mixer.key_dim, mixer.key_dim);
    mixer.value = cut(2 * mixer.key_dim, values);
    mixer.gate = cut(2 * mixer.key_dim + values, values);
  } else {
    const auto cut = [&](int64_t first, int64_t rows) {
      return header.slice(block + "attn_qkv.weight", embedding, first, rows, channels);
    };
    mixer.query = cut(0, keys);
    mixer.key = cut(keys, keys);
    mixer.value = cut(2 * keys, inner);
    mixer.gate = header.matrix(block + "attn_gate.weight", embedding, inner);
  }
  if (kind.beta_step) {
    const Matrix both = header.matrix(block + "ssm_ba.weight", embedding, 2 * mixer.value_heads);
    mixer.beta = Header::alternate(both, mixer.key_heads, 0, ratio, 2 * ratio);
    mixer.step = Header::alternate(both, mixer.key_heads, ratio, ratio, 2 * ratio);
  } else {
    mixer.beta = header.matrix(block + "ssm_beta.weight", embedding, mixer.value_heads);
    mixer.step = header.matrix(block + "ssm_alpha.weight", embedding, mixer.value_heads);
  }
  mixer.convolution = header.table(block + "ssm_conv1d.weight", mixer.taps, channels);
  mixer.step_bias = header.vector(block + "ssm_dt.bias", mixer.value_heads);
  mixer.decay = header.vector(block + "ssm_a", mixer.value_heads);
  mixer.norm = header.vector(block + "ssm_norm.weight", mixer.value_dim);
  mixer.output = header.matrix(block + "ssm_out.weight", inner, embedding);
  return mixer;
}

}  // namespace

Description describe_hybrid(const Header& header, const Hybrid& kind) {
  const int64_t layers = header.whole("block_count", 1, 1000);
  const int64_t predicting = header.whole_or("nextn_predict_layers", 0, 0, layers);
  refuse_companion(header, predicting);
  const int64_t embedding = header.whole("embedding_length", 1, 1 << 20);
  const std::vector<bool> recurrent = header.recurrent_layers(layers - predicting);

  Dense dense;
  dense.pairing = Pairing::halves;
  dense.head_norms = true;
  dense.output_gate = true;
  dense.feed_forward_norm = "post_attention_norm";
  if (kind.experts) dense.mixture.emplace();
  dense.mixer = [&](int64_t layer, const std::string& block, Layer& to) {
    if (!recurrent[static_cast<size_t>(layer)]) return false;
    to.delta_net = read_delta_net(header, kind, block, embedding);
    return true;
  };
  return describe_dense(header, dense);
}

}  // namespace halogen::model
