// A model's description made concrete for this processor: kernels chosen, every byte of weights, KV and scratch placed.
// Built the same way for a plan and for a load, so the two cannot differ.
#pragma once
#include <array>
#include <numeric>
#include <string>
#include <vector>

#include "native/backend/backend.h"
#include "native/backend/cpu/arena.h"
#include "native/backend/registry.h"

namespace halogen::backend::cpu {

inline constexpr uint64_t nowhere = UINT64_MAX;
inline constexpr int64_t page_tokens = 64;
inline constexpr int64_t chunk_tokens = 512;
// Logit rows of one forward: a batch of sequences, or a slice of a scoring run.
inline constexpr int64_t most_logit_rows = 32;
// Steps this narrow are prepared by every thread for itself, which is cheaper than a barrier.
inline constexpr int64_t redundant_tokens = 1;
// Matrices of one input that take it in different forms.
inline constexpr int most_forms = 4;
// States of recurrent layers, and windows of others: one for each of a few sequences that run, and some to go back to.
inline constexpr uint32_t running_slots = 2;
inline constexpr uint32_t checkpoint_slots = 6;
// Kept windows take at most this part of a context's pages, but one always has a place.
inline constexpr uint64_t kept_share = 8;
// Parts of one token's keys, so that every thread has about four.
inline int64_t most_parts(int64_t kv_heads, int64_t threads) {
  return (4 * threads + kv_heads - 1) / kv_heads;
}
// Rows that go through one expert at once.
inline constexpr int64_t expert_tokens = 32;

// Floats, dequantised at load.
struct Vector {
  uint64_t offset = nowhere;
  int64_t count = 0;
  const gguf::Tensor* source = nullptr;
  kernel::Dequantize dequantize = nullptr;
  uint64_t source_offset = 0;  // of the first element within the tensor
};

struct Matrix {
  const kernel::Matmul* kernel = nullptr;
  int64_t rows = 0;
  int64_t columns = 0;
  uint64_t offset = nowhere;
  uint64_t bytes = 0;
  const gguf::Tensor* source = nullptr;
  uint64_t source_offset = 0;  // of the first row within the tensor
  Vector bias;
  float scale = 1;       // of the product, before the bias
  int64_t together = 0;  // as model::Matrix
  int64_t stride = 0;
  int rotation = -1;  // index into Program::rotations; -1: the input is taken as it is
};

// kernel::Rotation's tables among the weights. Matrices whose rotations are equal share one.
struct RotationTable {
  const gguf::Rotation* source = nullptr;  // until the load is done
  int64_t columns = 0, rounds = 0;
  uint64_t scale = nowhere, cosine = nowhere, sine = nowhere, partner = nowhere;
};

// Rows in GGUF layout that stay in the file: those of a pass's tokens are read before it and dequantised in it. Rows of
// a file that holds them in another form are in memory.
struct Embedding {
  uint64_t offset = nowhere;  // in memory: of row 0
  uint64_t read = nowhere;    // scratch: [chunk] rows as the file has them, `stride` apart
  uint64_t row_bytes = 0;
  uint64_t stride = 0;
  int64_t rows = 0;
  int64_t columns = 0;
  const gguf::Tensor* source = nullptr;
  kernel::Dequantize dequantize = nullptr;
  float scale = 1;  // of what is dequantised
};

struct RopeTable {
  model::Rope rope;                         // with the factors of this context
  kernel::Dequantize dequantize = nullptr;  // of the factors
  uint64_t cosine = 0;                      // scratch: [chunk][rotated / 2]
  uint64_t sine = 0;
};

struct Expert {
  Matrix gate, up, down;
};

struct DeltaNet {
  int64_t key_heads = 0, value_heads = 0, key_dim = 0, value_dim = 0, taps = 0;
  bool tiled = false;
  Matrix query, key, value, gate, beta, step, output;
  Vector convolution;  // [taps][channels]
  Vector step_bias, decay, norm;
  uint64_t state = 0;  // within a slot: [value_heads][key_dim][value_dim]
  uint64_t rows = 0;   // within a slot: [taps - 1][channels]

  int64_t channels() const { return 2 * key_heads * key_dim + inner(); }
  int64_t inner() const { return value_heads * value_dim; }
};

struct Block {
  Vector attention_norm;
  DeltaNet delta_net;  // no heads: attention
  int64_t heads = 0, kv_heads = 0, head_dim = 0, window = 0;
  float scale = 0, growth = 0;
  int64_t growth_step = 1;
  bool neox = false;
  size_t rope = 0;  // index into Program::ropes
  Matrix query, key, value, output;
  Matrix output_gate;  // no rows: none
  Vector query_norm, key_norm, attended_norm, sinks;
  bool value_norm = false;
  Vector attention_output_norm, feed_forward_output_norm;
  int64_t reads_block = -1;  // whose keys and values this one attends to; -1: its own
  bool heads_whole = false;  // a head's rows are whole row granules of all three kernels
  size_t group = 0;          // index into Program::groups
  uint64_t kv_offset = 0;    // within a page: [kv_heads][keys, values] of kv_bytes
  uint64_t kv_bytes = 0;     // of the keys of one head in one page
  Vector feed_forward_norm;
  Matrix gate, up, down;  // no rows: none
  Vector inner_norm;
  kernel::SiluMul activate = nullptr;
  std::vector<Expert> experts;
  model::Choice choice;
  Matrix router;
  Vector choice_bias;
  Vector router_norm, experts_norm, experts_output_norm, beside_output_norm;  // of experts apart
  Matrix shared_gate;                                                         // no rows: none
  // A further input of this layer: see model::TokenInput.
  Matrix input_gate, input_projection;
  Vector input_norm;
  float output_scale = 1;

  bool apart() const { return experts_output_norm.source != nullptr; }
  // A feed-forward beside the experts of which nothing is needed but its sum with theirs.
  bool beside() const {
    return !experts.empty() && !apart() && gate.rows > 0 && inner_norm.source == nullptr &&
           feed_forward_output_norm.source == nullptr && output_scale == 1;
  }
  int64_t feed_granule() const { return std::lcm(gate.kernel->row_granule, up.kernel->row_granule); }
};

// Scratch of one thread.
struct Desk {
  uint64_t activations[most_forms] = {};
  uint64_t normed = 0;
  uint64_t rotated = 0;  // [expert_tokens]
  uint64_t kernel = 0;
  uint64_t scores = 0, chosen = 0, shares = 0;  // of one token
  uint64_t ends = 0, order = 0, places = 0;
  uint64_t expert_rows = 0, expert_gate = 0, expert_up = 0;  // [expert_tokens]
  uint64_t token_input = 0;                                  // of one token, all layers
  uint64_t key_pages = 0;
  uint64_t value_pages = 0;
};

struct Program {
  Program(const model::Description& description, const KernelSet& kernels, const Setup& setup, int threads);

  const model::Description description;
  int threads = 1;
  int64_t chunk = 0;
  std::vector<PageGroup> groups;
  std::vector<uint64_t> group_at;  // where each begins in memory
  uint64_t kept_page_bytes = 0;    // of all groups, in the pool of checkpoints
  uint64_t table_pages = 0;        // of the longest sequence
  uint32_t slots = 0;
  uint64_t slot_bytes = 0;

  Embedding embedding, input_embedding;
  Matrix input_projection;
  Vector input_norm;
  std::vector<Block> blocks;
  Vector output_norm;
  Matrix output;
  std::vector<RopeTable> ropes;
  std::vector<RotationTable> rotations;

  kernel::GeluMul gelu_mul = nullptr;
  kernel::Rotate rotate = nullptr;
  kernel::RmsNorm rms_norm = nullptr;
  kernel::Softcap softcap = nullptr;
  kernel::Add add = nullptr;
  kernel::Rope rope = nullptr;
  kernel::KvStore kv_store = nullptr;
  const kernel::Attention* attention = nullptr;
  kernel::SiluMul silu_mul = nullptr;
  kernel::SigmoidMul sigmoid_mul = nullptr;
  kernel::L2Norm l2_norm = nullptr;
  kernel::Convolution convolution = nullptr;
  const kernel::DeltaNet* delta_net = nullptr;

  // Scratch offsets; [chunk] rows each unless noted.
  uint64_t part_sums = 0, part_ends = 0;  // of one token's attention: [kv_heads][parts][group][head_dim], and [2]
  uint64_t x = 0, normed = 0, rotated = 0, query = 0, key = 0, value = 0, attended = 0, gate = 0, up = 0, sum = 0;
  uint64_t activations[most_forms] = {};
  uint64_t output_gate = 0;                 // of attention or delta net
  uint64_t mixed = 0, beta = 0, decay = 0;  // of delta net
  uint64_t router = 0, shared_gate = 0, chosen = 0, shares = 0;
  uint64_t expert_gate = 0, expert_up = 0;  // [used], of one token
  uint64_t expert_out = 0;                  // [chunk * used], in order of experts
  uint64_t apart = 0;                       // [chunk][embedding]: what experts apart add
  uint64_t token_inputs = 0;                // [chunk][layers * width]
  uint64_t hidden = 0;                      // [most_logit_rows][embedding]
  uint64_t logits = 0;                      // [most_logit_rows][vocabulary]
  std::vector<Desk> desks;

  Pools pools;

  uint64_t page_at(size_t group, uint32_t page) const { return group_at[group] + page * groups[group].page_bytes; }

 private:
  Embedding place_rows(const model::Matrix& matrix);
  Vector place(const gguf::Tensor* tensor);
  Vector place(const gguf::Tensor* tensor, int64_t first, int64_t count);
  Matrix place(const model::Matrix& matrix);
  int place(const gguf::Rotation* rotation);
  kernel::SiluMul activation(model::Gate gate) const;
  void place(const model::Layer& layer, Block& block);
  void place(const model::Attention& from, uint64_t context, Block& block);
  void place(const model::DeltaNet& from, DeltaNet& to);
  size_t rope_table(model::Rope rope, uint64_t context);
  void place_weights(uint64_t context);
  void place_pages(uint64_t context);
  PageGroup page_group(int64_t window, uint64_t context) const;
  void place_slots();
  void place_scratch();
  void place_expert_scratch(Layout& layout);

  const KernelSet& kernels_;
  Layout weights_;
};

// Throws model.unsupported_format unless there are kernels for the tensor as a matrix.
void require_format(const KernelSet& kernels, const gguf::Tensor& tensor, const char* op);

}  // namespace halogen::backend::cpu
