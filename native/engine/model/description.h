// What a model computes, as data. An architecture file fills this from GGUF metadata; a backend builds its program from
// it. Tensors point into the gguf::File they came from and are valid as long as it is.
#pragma once
#include <cstdint>
#include <string>
#include <vector>

#include "native/engine/gguf/file.h"

namespace halogen::model {

// A weight matrix: out[rows] = W x[columns]. `bias` may be null. Several may be cut from one tensor.
struct Matrix {
  const gguf::Tensor* tensor = nullptr;
  int64_t rows = 0;
  int64_t columns = 0;
  const gguf::Tensor* bias = nullptr;
  int64_t first_row = 0;   // of the tensor's
  int64_t first_bias = 0;  // element of the bias tensor
  float scale = 1;         // of the product, before the bias
  // Where rows of several matrices alternate: `together` of this one, the next of them `stride` rows after the first.
  int64_t together = 0;  // 0: all
  int64_t stride = 0;
};

enum class Pairing { adjacent, halves };

// Angles of position p: p times rope_frequencies(). See rope.cpp.
struct Rope {
  Pairing pairing = Pairing::adjacent;
  int64_t rotated = 0;  // of head_dim; the rest passes through
  double base = 10000;
  double scale = 1;                            // positions are multiplied by it
  double magnitude = 1;                        // so are cosine and sine
  const gguf::Tensor* factors = nullptr;       // [rotated / 2]: each frequency is divided by its factor
  const gguf::Tensor* long_factors = nullptr;  // take their place where the context is longer than `original`
  int64_t original = 0;                        // positions before the model was extended
  // YaRN: fast pairs keep their frequency, slow ones take the scaled one, those between are blended.
  bool yarn = false;
  double fast = 32;  // turns within `original`
  double slow = 1;
  bool whole_borders = true;  // the blend begins and ends at whole pairs

  bool operator==(const Rope&) const = default;
};

struct Attention {
  int64_t heads = 0;
  int64_t kv_heads = 0;
  int64_t head_dim = 0;
  int64_t window = 0;  // 0: sees everything before it
  float scale = 0;
  // Queries at position p are multiplied by 1 + growth * ln(1 + p div growth_step).
  float growth = 0;
  int64_t growth_step = 1;
  Rope rope;
  Matrix query;
  Matrix key;
  Matrix value;  // null: values are the product of `key`, before its norm
  Matrix output;
  Matrix gate;                               // may be null: what the heads give is multiplied by its sigmoid
  const gguf::Tensor* query_norm = nullptr;  // per head, before rope
  const gguf::Tensor* key_norm = nullptr;
  bool value_norm = false;                      // RMS norm of each value head, without weight
  int64_t reads_layer = -1;                     // an earlier layer whose keys and values it takes in place of its own
  const gguf::Tensor* attended_norm = nullptr;  // of all heads together, before `output`
  const gguf::Tensor* sinks = nullptr;          // [heads]: a score in each head's softmax that has no value
};

// A mixer with a state of fixed size instead of keys and values (Yang, Kautz, Hatamizadeh: Gated Delta Networks). A
// short causal convolution and SiLU over query, key and value; then, for each value head, with S of
// [key_dim][value_dim]: S = e^g S; S += k (beta (v - S'k))'; out = S'q, where g = decay * softplus(step x + step_bias),
// beta = sigmoid(beta x), and q and k are of length 1 (q divided by sqrt(key_dim)). out is normalised per head and
// multiplied by SiLU(gate x).
struct DeltaNet {
  int64_t key_heads = 0;  // 0: this layer has none
  int64_t value_heads = 0;
  int64_t key_dim = 0;
  int64_t value_dim = 0;
  int64_t taps = 0;  // of the convolution
  // Value head h reads key head h mod key_heads; otherwise h div (value_heads / key_heads).
  bool tiled = false;
  Matrix query, key, value, gate, beta, step;
  const gguf::Tensor* convolution = nullptr;  // [channels of query, key, value][taps], the last for the newest token
  const gguf::Tensor* step_bias = nullptr;    // [value_heads]
  const gguf::Tensor* decay = nullptr;        // [value_heads], below zero
  const gguf::Tensor* norm = nullptr;         // [value_dim], of every value head
  Matrix output;
};

// clamped: gate, at most 7, times its sigmoid at 1.702; up, within 7 of zero, plus one. squared: of what is above zero.
enum class Gate { silu, gelu, clamped, squared };

// down(norm(activation(gate x) * up x))
struct FeedForward {
  Gate activation = Gate::silu;
  Matrix gate;
  Matrix up;
  Matrix down;
  const gguf::Tensor* inner_norm = nullptr;
};

enum class Gating { softmax, sigmoid };

// Which experts a token goes through, and the weight of what each adds.
struct Choice {
  int64_t used = 0;
  // Experts stand in groups; only those of the best groups are looked at. A group's score is that of its best two.
  int64_t groups = 1;
  int64_t used_groups = 1;
  Gating gating = Gating::softmax;  // router's logits to scores
  bool normalised = true;           // the scores of the chosen are divided by their sum
  float scale = 1;
};

struct Experts {
  Choice choice;
  Matrix router;                              // rows are experts
  const gguf::Tensor* choice_bias = nullptr;  // added to the scores for the choice alone
  std::vector<FeedForward> each;              // all of one shape and format; empty: no experts
  // Experts apart from the feed-forward beside them, each side with norms of its own; null: one norm before both, none
  // behind.
  const gguf::Tensor* router_norm = nullptr;
  const gguf::Tensor* norm = nullptr;
  const gguf::Tensor* output_norm = nullptr;
  const gguf::Tensor* beside_output_norm = nullptr;
};

// x += norm(projection(gelu(gate x) * the layer's part of TokenInputs))
struct TokenInput {
  Matrix gate;  // no tensor: none
  Matrix projection;
  const gguf::Tensor* norm = nullptr;
};

// For every token and layer: scale * (norm(projection x0) + embedding_scale * embedding[token]), x0 the embedded token.
struct TokenInputs {
  int64_t width = 0;  // of one layer's part; 0: none
  Matrix embedding;   // rows are tokens: the layers' parts one after the other
  float embedding_scale = 1;
  Matrix projection;
  const gguf::Tensor* norm = nullptr;  // [width]
  float scale = 1;
};

struct Layer {
  const gguf::Tensor* attention_norm = nullptr;
  Attention attention;                                  // no heads: none
  DeltaNet delta_net;                                   // in place of attention, where there is one
  const gguf::Tensor* attention_output_norm = nullptr;  // of what attention adds, where there is one
  const gguf::Tensor* feed_forward_norm = nullptr;
  FeedForward feed_forward;  // beside experts, or without a tensor where there are only those
  Experts experts;
  Matrix shared_gate;  // one row, may be null: its sigmoid is the weight of feed_forward beside experts
  const gguf::Tensor* feed_forward_output_norm = nullptr;
  TokenInput token_input;
  float scale = 1;  // of x when all is added
};

struct Description {
  std::string architecture;
  int64_t vocabulary = 0;
  int64_t embedding = 0;
  int64_t context = 0;  // positions the model was trained for
  float norm_epsilon = 0;
  Matrix token_embedding;  // rows are tokens
  float embedding_scale = 1;
  TokenInputs token_inputs;
  std::vector<Layer> layers;
  const gguf::Tensor* output_norm = nullptr;
  Matrix output;        // the same tensor as token_embedding when tied
  float logit_cap = 0;  // logits become cap * tanh(logits / cap); 0: they stay
};

}  // namespace halogen::model
