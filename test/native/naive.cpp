#include "test/native/naive.h"

#include <algorithm>
#include <cmath>

namespace halogen::test {
namespace {

using Vector = std::vector<double>;

Vector product(const std::vector<float>& matrix, const Vector& x, size_t rows) {
  Vector out(rows, 0);
  for (size_t r = 0; r < rows; ++r) {
    for (size_t c = 0; c < x.size(); ++c) out[r] += static_cast<double>(matrix[r * x.size() + c]) * x[c];
  }
  return out;
}

Vector normed(const Vector& x, const std::vector<float>& weight) {
  double squares = 0;
  for (const double value : x) squares += value * value;
  const double scale = 1 / std::sqrt(squares / static_cast<double>(x.size()) + 1e-5);
  Vector out(x.size());
  for (size_t i = 0; i < x.size(); ++i) out[i] = x[i] * scale * static_cast<double>(weight[i]);
  return out;
}

void add_to(Vector& x, const Vector& y) {
  for (size_t i = 0; i < x.size(); ++i) x[i] += y[i];
}

}  // namespace

std::vector<double> log_softmax(std::vector<double> logits) {
  const double highest = *std::max_element(logits.begin(), logits.end());
  double sum = 0;
  for (const double logit : logits) sum += std::exp(logit - highest);
  for (double& logit : logits) logit -= highest + std::log(sum);
  return logits;
}

std::vector<std::vector<double>> naive_logits(const TinyShape& shape, const Weights& weights,
                                              const std::vector<int32_t>& tokens) {
  const auto size = [](int64_t value) { return static_cast<size_t>(value); };
  const size_t width = size(shape.embedding), dim = size(shape.head_dim), group = size(shape.heads / shape.kv_heads);
  const auto with_bias = [&](const std::string& base, const Vector& x, int64_t rows) {
    Vector out = product(weights.at(base + ".weight"), x, size(rows));
    if (shape.biases) {
      for (size_t i = 0; i < out.size(); ++i) out[i] += static_cast<double>(weights.at(base + ".bias")[i]);
    }
    return out;
  };
  const auto rotate = [&](Vector& heads, size_t position) {
    for (size_t at = 0; at < heads.size(); at += dim) {
      for (size_t i = 0; i < size(shape.rotated) / 2; ++i) {
        double angle = static_cast<double>(position) / static_cast<double>(shape.rope_linear) *
                       std::pow(10000.0, -2.0 * static_cast<double>(i) / static_cast<double>(shape.rotated));
        if (shape.rope_factors) angle /= static_cast<double>(weights.at("rope_freqs.weight")[i]);
        const double a = heads[at + 2 * i], b = heads[at + 2 * i + 1];
        heads[at + 2 * i] = a * std::cos(angle) - b * std::sin(angle);
        heads[at + 2 * i + 1] = a * std::sin(angle) + b * std::cos(angle);
      }
    }
  };
  std::vector<std::vector<Vector>> keys(size(shape.layers)), values(size(shape.layers));
  std::vector<Vector> result;
  for (size_t t = 0; t < tokens.size(); ++t) {
    const std::vector<float>& embedding = weights.at("token_embd.weight");
    const auto row = embedding.begin() + static_cast<std::ptrdiff_t>(size(tokens[t]) * width);
    Vector x(row, row + static_cast<std::ptrdiff_t>(width));
    for (int64_t layer = 0; layer < shape.layers; ++layer) {
      const std::string block = "blk." + std::to_string(layer) + ".";
      std::vector<Vector>& layer_keys = keys[size(layer)];
      std::vector<Vector>& layer_values = values[size(layer)];
      const Vector input = normed(x, weights.at(block + "attn_norm.weight"));
      Vector query = with_bias(block + "attn_q", input, shape.heads * shape.head_dim);
      Vector key = with_bias(block + "attn_k", input, shape.kv_heads * shape.head_dim);
      rotate(query, t);
      rotate(key, t);
      layer_keys.push_back(key);
      layer_values.push_back(with_bias(block + "attn_v", input, shape.kv_heads * shape.head_dim));
      Vector attended(query.size(), 0);
      for (size_t h = 0; h < size(shape.heads); ++h) {
        Vector scores;
        for (size_t p = 0; p <= t; ++p) {
          double score = 0;
          for (size_t i = 0; i < dim; ++i) score += query[h * dim + i] * layer_keys[p][h / group * dim + i];
          scores.push_back(score / std::sqrt(static_cast<double>(dim)));
        }
        const Vector weight = log_softmax(scores);
        for (size_t p = 0; p <= t; ++p) {
          for (size_t i = 0; i < dim; ++i)
            attended[h * dim + i] += std::exp(weight[p]) * layer_values[p][h / group * dim + i];
        }
      }
      add_to(x, with_bias(block + "attn_output", attended, shape.embedding));
      const Vector inner = normed(x, weights.at(block + "ffn_norm.weight"));
      Vector gate = product(weights.at(block + "ffn_gate.weight"), inner, size(shape.inner));
      const Vector up = product(weights.at(block + "ffn_up.weight"), inner, size(shape.inner));
      for (size_t i = 0; i < gate.size(); ++i) gate[i] = gate[i] / (1 + std::exp(-gate[i])) * up[i];
      add_to(x, product(weights.at(block + "ffn_down.weight"), gate, width));
    }
    const std::string head = shape.tied ? "token_embd.weight" : "output.weight";
    result.push_back(product(weights.at(head), normed(x, weights.at("output_norm.weight")), size(shape.vocabulary)));
  }
  return result;
}

}  // namespace halogen::test
