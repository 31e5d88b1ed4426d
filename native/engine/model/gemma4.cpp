// Architecture "gemma4": Gemma 4. Norms around every part, layers of a sliding window with smaller heads between full
// ones; the larger models have experts beside the feed-forward, the smaller ones an input of its own for every layer.
#include <cmath>

#include "native/engine/model/dense.h"

namespace halogen::model {
namespace {

void read_experts(const Header& header, const std::string& block, int64_t embedding, Layer& layer) {
  Experts& experts = layer.experts;
  experts.router_norm = header.vector(block + "ffn_gate_inp.scale", embedding);
  experts.router.scale /= std::sqrt(static_cast<float>(embedding));
  experts.norm = header.vector(block + "pre_ffw_norm_2.weight", embedding);
  experts.output_norm = header.vector(block + "post_ffw_norm_2.weight", embedding);
  experts.beside_output_norm = header.vector(block + "post_ffw_norm_1.weight", embedding);
}

void read_token_inputs(const Header& header, int64_t width, Description& model) {
  TokenInputs& inputs = model.token_inputs;
  const int64_t all = width * static_cast<int64_t>(model.layers.size());
  inputs.width = width;
  inputs.embedding = header.matrix("per_layer_token_embd.weight", all, model.vocabulary);
  inputs.embedding_scale = std::sqrt(static_cast<float>(width));
  inputs.projection = header.matrix("per_layer_model_proj.weight", model.embedding, all);
  inputs.projection.scale /= std::sqrt(static_cast<float>(model.embedding));
  inputs.norm = header.vector("per_layer_proj_norm.weight", width);
  inputs.scale = std::sqrt(0.5f);
  for (size_t i = 0; i < model.layers.size(); ++i) {
    const std::string block = "blk." + std::to_string(i) + ".";
    model.layers[i].token_input = {header.matrix(block + "inp_gate.weight", model.embedding, width),
                                   header.matrix(block + "proj.weight", width, model.embedding),
                                   header.vector(block + "post_norm.weight", model.embedding)};
  }
}

}  // namespace

Description describe_gemma4(const Header& header) {
  const int64_t layers = header.whole("block_count", 1, 1000);
  const std::vector<bool> slides = header.sliding_layers(layers, 6);
  const int64_t own = layers - header.whole_or("attention.shared_kv_layers", 0, 0, layers - 1);

  Dense kind;
  kind.pairing = Pairing::halves;
  kind.head_norms = true;
  kind.output_norms = true;
  kind.value_from_key = true;
  kind.activation = Gate::gelu;
  kind.mixture = {Gating::softmax, true, true};
  kind.sliding = {slides, header.whole("attention.sliding_window", 1, int64_t{1} << 31), 10000, false};
  kind.adjust = [&](int64_t layer, Attention& attention) {
    attention.scale = 1;
    attention.value_norm = true;
    if (layer < own) return;
    // The last layer of its kind that has keys and values of its own.
    int64_t source = own - 1;
    while (source >= 0 && slides[static_cast<size_t>(source)] != slides[static_cast<size_t>(layer)]) --source;
    if (source < 0) header.unsupported("shared keys and values without a layer to take them from");
    attention.reads_layer = source;
  };
  Description model = describe_dense(header, kind);
  model.embedding_scale = std::sqrt(static_cast<float>(model.embedding));
  model.logit_cap = static_cast<float>(header.real_or("final_logit_softcapping", 0, 0, 1e6));
  for (size_t i = 0; i < model.layers.size(); ++i) {
    Layer& layer = model.layers[i];
    const std::string block = "blk." + std::to_string(i) + ".";
    layer.scale = header.factor(block + "layer_output_scale.weight");
    if (!layer.experts.each.empty()) read_experts(header, block, model.embedding, layer);
  }
  const int64_t width = header.whole_or("embedding_length_per_layer_input", 0, 0, 1 << 16);
  if (width > 0) read_token_inputs(header, width, model);
  return model;
}

}  // namespace halogen::model
