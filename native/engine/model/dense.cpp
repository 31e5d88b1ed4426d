#include <algorithm>
#include <cmath>

#include "native/engine/model/dense.h"
#include "native/engine/model/rope.h"

namespace halogen::model {
namespace {

// Three tensors, or one that holds the rows of all three.
void read_projections(const Header& header, const Dense& kind, const std::string& block, int64_t columns,
                      int64_t query_rows, int64_t kv_rows, Attention& attention) {
  if (header.file().tensor(block + "attn_qkv.weight") == nullptr) {
    attention.query = header.matrix_with_bias(block + "attn_q", columns, query_rows);
    if (attention.reads_layer >= 0) {
      for (const char* name : {"attn_k.weight", "attn_v.weight", "attn_k_norm.weight"}) header.ignore(block + name);
      return;
    }
    attention.key = header.matrix_with_bias(block + "attn_k", columns, kv_rows);
    if (kind.value_from_key && header.file().tensor(block + "attn_v.weight") == nullptr) return;
    attention.value = header.matrix_with_bias(block + "attn_v", columns, kv_rows);
    return;
  }
  const auto slice = [&](int64_t first, int64_t rows) {
    return header.slice_with_bias(block + "attn_qkv", columns, first, rows, query_rows + 2 * kv_rows);
  };
  attention.query = slice(0, query_rows);
  attention.key = slice(query_rows, kv_rows);
  attention.value = slice(query_rows + kv_rows, kv_rows);
}

// Each head's query rows stand before the rows of its gate.
void part_gate(const Header& header, Attention& attention) {
  const Matrix both = attention.query;
  if (both.bias != nullptr) header.unsupported("a bias on queries with gates");
  attention.query = Header::alternate(both, attention.heads, 0, attention.head_dim, 2 * attention.head_dim);
  attention.gate =
      Header::alternate(both, attention.heads, attention.head_dim, attention.head_dim, 2 * attention.head_dim);
}

// Sizes and rope of a layer, which differ where it slides.
void read_shape(const Header& header, const Dense& kind, int64_t i, const Rope& rope, int64_t embedding,
                Attention& attention) {
  const bool slides = kind.sliding && kind.sliding->layers[static_cast<size_t>(i)];
  const auto whole = [&](const std::string& name, int64_t fallback, int64_t least, int64_t most) {
    const int64_t general = header.whole_or(name, fallback, least, most);
    return slides ? header.whole_or(name + "_swa", general, least, most) : general;
  };
  attention.head_dim = whole("attention.key_length", embedding / attention.heads, 1, 4096);
  if (attention.head_dim < 2 || whole("attention.value_length", attention.head_dim, 1, 4096) != attention.head_dim) {
    header.unsupported("keys and values of different lengths");
  }
  attention.scale = static_cast<float>(1.0 / std::sqrt(static_cast<double>(attention.head_dim)));
  attention.rope = rope;
  attention.rope.rotated = whole("rope.dimension_count", attention.head_dim, 2, 4096);
  if (attention.rope.rotated % 2 != 0 || attention.rope.rotated > attention.head_dim) {
    header.unsupported("rope over " + std::to_string(attention.rope.rotated) + " of " +
                       std::to_string(attention.head_dim) + " dimensions");
  }
  if (!slides) {
    const int64_t pairs = attention.rope.rotated / 2;
    attention.rope.factors = header.vector_or_null("rope_freqs.weight", pairs);
    if (attention.rope.factors != nullptr) return;
    if (header.file().tensor("rope_factors_long.weight") == nullptr) return;
    attention.rope.factors = header.vector("rope_factors_short.weight", pairs);
    attention.rope.long_factors = header.vector("rope_factors_long.weight", pairs);
    return;
  }
  attention.window = kind.sliding->window;
  const double base = kind.sliding->base > 0 ? kind.sliding->base : rope.base;
  attention.rope.base = header.real_or("rope.freq_base_swa", base, 1, 1e12);
  if (!kind.sliding->scaled) attention.rope.scale = 1;
}

void read_attention(const Header& header, const Dense& kind, const std::string& block, int64_t i, const Rope& rope,
                    int64_t embedding, Attention& attention) {
  attention.heads = header.whole_at("attention.head_count", i, -1, 1, 1 << 16);
  attention.kv_heads = header.whole_at("attention.head_count_kv", i, attention.heads, 1, 1 << 16);
  if (attention.heads % attention.kv_heads != 0) {
    header.unsupported(std::to_string(attention.heads) + " heads over " + std::to_string(attention.kv_heads) +
                       " key-value heads");
  }
  read_shape(header, kind, i, rope, embedding, attention);
  if (kind.adjust) kind.adjust(i, attention);

  const int64_t query_rows = attention.heads * attention.head_dim;
  const int64_t kv_rows = attention.kv_heads * attention.head_dim;
  read_projections(header, kind, block, embedding, kind.output_gate ? 2 * query_rows : query_rows, kv_rows, attention);
  if (kind.output_gate) part_gate(header, attention);
  attention.output = header.matrix_with_bias(block + "attn_output", query_rows, embedding);
  attention.sinks = header.vector_or_null(block + "attn_sinks.weight", attention.heads);
  if (kind.inner_norms) attention.attended_norm = header.vector(block + "attn_sub_norm.weight", query_rows);
  if (kind.head_norms) {
    attention.query_norm = header.vector(block + "attn_q_norm.weight", attention.head_dim);
    if (attention.reads_layer < 0) {
      attention.key_norm = header.vector(block + "attn_k_norm.weight", attention.head_dim);
    }
  }
}

}  // namespace

Description describe_dense(const Header& header, const Dense& kind) {
  const int64_t experts = header.whole_or("expert_count", 0, 0, 1 << 20);
  if (!kind.mixture && experts > 0) {
    header.unsupported("mixture-of-experts feed-forwards");
  }

  Description model;
  const int64_t all_layers = header.whole("block_count", 1, 1000);
  // The layers that predict further tokens stand last.
  const int64_t layers = all_layers - header.whole_or("nextn_predict_layers", 0, 0, all_layers - 1);
  model.embedding = header.whole("embedding_length", 1, 1 << 20);
  model.context = header.whole("context_length", 1, int64_t{1} << 31);
  model.norm_epsilon = static_cast<float>(header.real("attention.layer_norm_rms_epsilon", 0, 1));

  const gguf::Tensor* embedding = header.file().tensor("token_embd.weight");
  model.vocabulary =
      embedding != nullptr ? static_cast<int64_t>(std::min<uint64_t>(embedding->shape[1], INT32_MAX)) : 0;
  model.token_embedding = header.matrix("token_embd.weight", model.embedding, model.vocabulary);
  model.output_norm = header.vector("output_norm.weight", model.embedding);
  const bool tied = header.file().tensor("output.weight") == nullptr;
  model.output = tied ? model.token_embedding : header.matrix_with_bias("output", model.embedding, model.vocabulary);

  const Rope rope = read_rope(header, kind.pairing);

  for (int64_t i = 0; i < layers; ++i) {
    const std::string block = "blk." + std::to_string(i) + ".";
    Layer layer;
    layer.attention_norm = header.vector(block + "attn_norm.weight", model.embedding);
    if (!kind.mixer || !kind.mixer(i, block, layer)) {
      read_attention(header, kind, block, i, rope, model.embedding, layer.attention);
    }

    if (kind.output_norms) {
      layer.attention_output_norm = header.vector(block + "post_attention_norm.weight", model.embedding);
      layer.feed_forward_output_norm = header.vector(block + "post_ffw_norm.weight", model.embedding);
    }

    layer.feed_forward_norm = header.vector(block + kind.feed_forward_norm + ".weight", model.embedding);
    layer.feed_forward.activation = kind.activation;
    if (kind.mixture && header.file().tensor(block + "ffn_gate_inp.weight") != nullptr) {
      describe_experts(header, block, model.embedding, *kind.mixture, layer);
      if (!kind.mixture->beside) {
        model.layers.push_back(std::move(layer));
        continue;
      }
    }

    const int64_t feed_forward = header.whole_at("feed_forward_length", i, -1, 1, 1 << 22);
    if (kind.gate_within_up) {
      const auto half = [&](int64_t first) {
        return header.slice_with_bias(block + "ffn_up", model.embedding, first, feed_forward, 2 * feed_forward);
      };
      layer.feed_forward.gate = half(0);
      layer.feed_forward.up = half(feed_forward);
    } else {
      layer.feed_forward.gate = header.matrix_with_bias(block + "ffn_gate", model.embedding, feed_forward);
      layer.feed_forward.up = header.matrix_with_bias(block + "ffn_up", model.embedding, feed_forward);
    }
    layer.feed_forward.down = header.matrix_with_bias(block + "ffn_down", feed_forward, model.embedding);
    if (kind.inner_norms) layer.feed_forward.inner_norm = header.vector(block + "ffn_sub_norm.weight", feed_forward);
    model.layers.push_back(std::move(layer));
  }
  const auto has_experts = [](const Layer& layer) { return !layer.experts.each.empty(); };
  if (experts > 0 && std::ranges::none_of(model.layers, has_experts)) {
    header.matrix("blk." + std::to_string(layers - 1) + ".ffn_gate_inp.weight", model.embedding, experts);  // throws
  }
  return model;
}

}  // namespace halogen::model
