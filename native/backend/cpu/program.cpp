#include "native/backend/cpu/program.h"

#include <algorithm>

#include "native/engine/error.h"
#include "native/engine/gguf/checked.h"
#include "native/engine/model/rope.h"

namespace halogen::backend::cpu {
namespace {

uint64_t floats(int64_t rows, int64_t columns) {
  return multiply(multiply(static_cast<uint64_t>(rows), static_cast<uint64_t>(columns)), sizeof(float))
      .value_or(UINT64_MAX);
}

uint64_t row_bytes(const gguf::Tensor& tensor, int64_t columns) {
  return tensor.bytes / (tensor.elements / static_cast<uint64_t>(columns));
}

// Most pages that hold a part of so many positions in a row, wherever they begin.
uint64_t pages_across(int64_t positions) {
  return static_cast<uint64_t>((positions - 1 + page_tokens - 1) / page_tokens + 1);
}

template <typename Measure>
int64_t widest(const std::vector<Block>& blocks, Measure measure) {
  int64_t most = 0;
  for (const Block& block : blocks) most = std::max(most, measure(block));
  return most;
}

}  // namespace

void require_format(const KernelSet& kernels, const gguf::Tensor& tensor, const char* op) {
  const gguf::Format* format = tensor.format;
  if (format != nullptr && format->bytes != 0 && kernels.has(op, format->key)) return;
  const std::string name = format != nullptr ? format->name : "type " + std::to_string(tensor.type_id);
  const std::string where = "tensor \"" + std::string(tensor.name) + "\"";
  const Detail detail{{"tensor", std::string(tensor.name)}, {"format", name}, {"type", tensor.type_id}};
  // bitnet.cpp's format took the number of one that GGUF had retired; its scale stands outside of the blocks.
  constexpr uint32_t i2_s = 36;
  if (tensor.type_id == i2_s) {
    throw Error(code::model_unsupported_format,
                "This file is fine; Halogen does not know the weight format I2_S, which is bitnet.cpp's own (" + where +
                    ").",
                "Download this model as TQ2_0, TQ1_0 or F16.",
                {{"tensor", std::string(tensor.name)}, {"format", "I2_S"}, {"type", tensor.type_id}});
  }
  if (format != nullptr && format->bytes == 0) {
    throw Error(code::model_unsupported_format,
                "Format " + name + " (" + where + ") was retired from GGUF; no program writes it now.",
                "Download a newer conversion of this model.", detail);
  }
  throw Error(code::model_unsupported_format,
              "This file is fine; Halogen does not know the weight format " + name + " yet (" + where + ").",
              "Download this model in a format it knows, such as Q8_0 or Q4_0.", detail);
}

Program::Program(const model::Description& source, const KernelSet& kernels, const Setup& setup, int thread_count)
    : description(source), threads(thread_count), kernels_(kernels) {
  chunk = std::min<int64_t>(chunk_tokens, static_cast<int64_t>(setup.context));
  gelu_mul = kernels.function<kernel::GeluMul>("gelu_mul");
  rms_norm = kernels.function<kernel::RmsNorm>("rms_norm");
  softcap = kernels.function<kernel::Softcap>("softcap");
  add = kernels.function<kernel::Add>("add");
  rope = kernels.function<kernel::Rope>("rope");
  kv_store = kernels.function<kernel::KvStore>("kv_store", setup.kv_type);
  attention = &kernels.table<kernel::Attention>(setup.kv_type);
  silu_mul = kernels.function<kernel::SiluMul>("silu_mul");
  sigmoid_mul = kernels.function<kernel::SigmoidMul>("sigmoid_mul");
  l2_norm = kernels.function<kernel::L2Norm>("l2_norm");
  convolution = kernels.function<kernel::Convolution>("convolution");
  delta_net = &kernels.table<kernel::DeltaNet>("");
  place_weights(setup.context);
  place_pages(setup.context);
  place_slots();
  place_scratch();
}

Embedding Program::place_rows(const model::Matrix& matrix) {
  const gguf::Tensor& tensor = *matrix.tensor;
  require_format(kernels_, tensor, "dequantize");
  const uint64_t row_bytes = tensor.bytes / static_cast<uint64_t>(matrix.rows);
  const bool in_file = tensor.mapping != nullptr;
  return {in_file ? nowhere : weights_.add(tensor.bytes),
          nowhere,
          row_bytes,
          (row_bytes + 63) / 64 * 64,
          matrix.rows,
          matrix.columns,
          &tensor,
          kernels_.function<kernel::Dequantize>("dequantize", tensor.format->key),
          matrix.scale};
}

Vector Program::place(const gguf::Tensor* tensor) {
  return tensor != nullptr ? place(tensor, 0, static_cast<int64_t>(tensor->elements)) : Vector();
}

Vector Program::place(const gguf::Tensor* tensor, int64_t first, int64_t count) {
  if (tensor == nullptr) return {};
  require_format(kernels_, *tensor, "dequantize");
  const gguf::Format& format = *tensor->format;
  if (first % format.elements != 0) {
    throw Error(code::model_unsupported_format,
                "Tensor \"" + std::string(tensor->name) + "\" is in " + format.name +
                    ", whose blocks span the parts it would be cut into.",
                "Try another conversion of this model.", {{"tensor", std::string(tensor->name)}});
  }
  const uint64_t source_offset = static_cast<uint64_t>(first) / format.elements * format.bytes;
  return {weights_.add(floats(1, count)), count, tensor,
          kernels_.function<kernel::Dequantize>("dequantize", format.key), source_offset};
}

Matrix Program::place(const model::Matrix& matrix) {
  if (matrix.tensor == nullptr) return {};
  require_format(kernels_, *matrix.tensor, "matmul");
  const kernel::Matmul& kernel = kernels_.table<kernel::Matmul>(matrix.tensor->format->key);
  Matrix placed;
  placed.kernel = &kernel;
  placed.rows = matrix.rows;
  placed.columns = matrix.columns;
  placed.bytes = kernel.packed_bytes(matrix.rows, matrix.columns);
  placed.source = matrix.tensor;
  placed.source_offset = static_cast<uint64_t>(matrix.first_row) * row_bytes(*matrix.tensor, matrix.columns);
  placed.together = matrix.together;
  placed.stride = matrix.stride;
  placed.offset = weights_.add(placed.bytes);
  placed.rotation = place(matrix.tensor->rotation);
  placed.scale = matrix.scale;
  placed.bias = place(matrix.bias, matrix.first_bias, matrix.rows);
  return placed;
}

size_t Program::rope_table(model::Rope rope, uint64_t context) {
  if (model::takes_long_factors(rope, context)) rope.factors = rope.long_factors;
  rope.long_factors = nullptr;
  const auto found = std::ranges::find(ropes, rope, &RopeTable::rope);
  if (found != ropes.end()) return static_cast<size_t>(found - ropes.begin());
  RopeTable table;
  table.rope = rope;
  if (rope.factors != nullptr) {
    require_format(kernels_, *rope.factors, "dequantize");
    table.dequantize = kernels_.function<kernel::Dequantize>("dequantize", rope.factors->format->key);
  }
  ropes.push_back(table);
  return ropes.size() - 1;
}

kernel::SiluMul Program::activation(model::Gate gate) const {
  switch (gate) {
    case model::Gate::gelu:
      return kernels_.function<kernel::GeluMul>("gelu_mul");
    case model::Gate::clamped:
      return kernels_.function<kernel::ClampedMul>("clamped_mul");
    case model::Gate::squared:
      return kernels_.function<kernel::SquaredReluMul>("squared_relu_mul");
    default:
      return kernels_.function<kernel::SiluMul>("silu_mul");
  }
}

void Program::place(const model::Layer& layer, Block& block) {
  block.feed_forward_norm = place(layer.feed_forward_norm);
  block.gate = place(layer.feed_forward.gate);
  block.up = place(layer.feed_forward.up);
  block.down = place(layer.feed_forward.down);
  block.inner_norm = place(layer.feed_forward.inner_norm);
  block.activate = activation(layer.feed_forward.activation);
  block.feed_forward_output_norm = place(layer.feed_forward_output_norm);
  const model::Experts& experts = layer.experts;
  block.choice = experts.choice;
  block.router = place(experts.router);
  block.choice_bias = place(experts.choice_bias);
  block.router_norm = place(experts.router_norm);
  block.experts_norm = place(experts.norm);
  block.experts_output_norm = place(experts.output_norm);
  block.beside_output_norm = place(experts.beside_output_norm);
  block.shared_gate = place(layer.shared_gate);
  block.input_gate = place(layer.token_input.gate);
  block.input_projection = place(layer.token_input.projection);
  block.input_norm = place(layer.token_input.norm);
  block.output_scale = layer.scale;
  for (const model::FeedForward& expert : experts.each) {
    block.experts.push_back({place(expert.gate), place(expert.up), place(expert.down)});
  }
}

void Program::place(const model::Attention& from, uint64_t context, Block& block) {
  block.heads = from.heads;
  block.kv_heads = from.kv_heads;
  block.head_dim = from.head_dim;
  block.window = from.window;
  block.scale = from.scale;
  block.growth = from.growth;
  block.growth_step = from.growth_step;
  block.neox = from.rope.pairing == model::Pairing::halves;
  block.rope = rope_table(from.rope, context);
  block.query = place(from.query);
  block.key = place(from.key);
  block.value = place(from.value);
  block.output = place(from.output);
  block.output_gate = place(from.gate);
  block.query_norm = place(from.query_norm);
  block.key_norm = place(from.key_norm);
  block.attended_norm = place(from.attended_norm);
  block.sinks = place(from.sinks);
  block.value_norm = from.value_norm;
  block.reads_block = from.reads_layer;
  block.heads_whole = true;
  for (const Matrix* matrix : {&block.query, &block.key, &block.value}) {
    if (matrix->rows > 0 && block.head_dim % matrix->kernel->row_granule != 0) block.heads_whole = false;
  }
}

void Program::place(const model::DeltaNet& from, DeltaNet& to) {
  to.key_heads = from.key_heads;
  to.value_heads = from.value_heads;
  to.key_dim = from.key_dim;
  to.value_dim = from.value_dim;
  to.taps = from.taps;
  to.tiled = from.tiled;
  to.query = place(from.query);
  to.key = place(from.key);
  to.value = place(from.value);
  to.gate = place(from.gate);
  to.beta = place(from.beta);
  to.step = place(from.step);
  to.output = place(from.output);
  to.convolution = place(from.convolution);
  to.step_bias = place(from.step_bias);
  to.decay = place(from.decay);
  to.norm = place(from.norm);
}

void Program::place_weights(uint64_t context) {
  embedding = place_rows(description.token_embedding);
  if (const model::TokenInputs& inputs = description.token_inputs; inputs.width > 0) {
    input_embedding = place_rows(inputs.embedding);
    input_projection = place(inputs.projection);
    input_norm = place(inputs.norm);
  }
  for (const model::Layer& layer : description.layers) {
    Block block;
    block.attention_norm = place(layer.attention_norm);
    if (layer.delta_net.key_heads > 0) {
      place(layer.delta_net, block.delta_net);
    } else {
      place(layer.attention, context, block);
    }
    block.attention_output_norm = place(layer.attention_output_norm);
    place(layer, block);
    blocks.push_back(std::move(block));
  }
  output_norm = place(description.output_norm);
  output = place(description.output);
  pools.weights = weights_.bytes();
}

// The pages of layers with this window, or, where that would save nothing, of those that see everything.
PageGroup Program::page_group(int64_t window, uint64_t context) const {
  const PageGroup all{.pages = static_cast<uint32_t>(table_pages)};
  if (window == 0 || static_cast<uint64_t>(window) >= context) return all;
  const uint64_t one = pages_across(window);
  const uint64_t running = pages_across(window - 1 + chunk) + (running_slots - 1) * one;
  const uint64_t kept = std::clamp(table_pages / kept_share, one, checkpoint_slots * one);
  if (running + kept >= table_pages) return all;
  return {static_cast<uint32_t>(running + kept), static_cast<uint32_t>(kept), window};
}

void Program::place_pages(uint64_t context) {
  // One page more than the context: a fork from inside a page needs a copy of it.
  table_pages = (context + page_tokens - 1) / page_tokens + 1;
  // What is kept of a layer is what it or any that reads its keys sees; -1: none does.
  std::vector<int64_t> windows(blocks.size(), -1);
  for (size_t i = 0; i < blocks.size(); ++i) {
    if (blocks[i].kv_heads == 0) continue;
    const int64_t reads = blocks[i].reads_block;
    int64_t& window = windows[reads >= 0 ? static_cast<size_t>(reads) : i];
    window = blocks[i].window == 0 || window == 0 ? 0 : std::max(window, blocks[i].window);
  }
  for (size_t i = 0; i < blocks.size(); ++i) {
    Block& block = blocks[i];
    if (block.kv_heads == 0) continue;
    if (block.reads_block >= 0) {
      const Block& own = blocks[static_cast<size_t>(block.reads_block)];
      block.group = own.group;
      block.kv_offset = own.kv_offset;
      block.kv_bytes = own.kv_bytes;
      continue;
    }
    const PageGroup wanted = page_group(windows[i], context);
    block.group = static_cast<size_t>(std::ranges::find(groups, wanted.window, &PageGroup::window) - groups.begin());
    if (block.group == groups.size()) groups.push_back(wanted);
    uint64_t& page_bytes = groups[block.group].page_bytes;
    block.kv_offset = page_bytes;
    block.kv_bytes = attention->page_bytes(block.head_dim, page_tokens);
    page_bytes += block.kv_bytes * 2 * static_cast<uint64_t>(block.kv_heads);
  }
  for (const PageGroup& group : groups) {
    group_at.push_back(plus(pools.kv, kept_page_bytes).value_or(UINT64_MAX));
    const uint64_t running = multiply(group.page_bytes, group.pages - group.kept).value_or(UINT64_MAX);
    pools.kv = plus(pools.kv, running).value_or(UINT64_MAX);
    const uint64_t kept = multiply(group.page_bytes, group.kept).value_or(UINT64_MAX);
    kept_page_bytes = plus(kept_page_bytes, kept).value_or(UINT64_MAX);
  }
  pools.checkpoints = kept_page_bytes;
}

void Program::place_slots() {
  Layout layout;
  for (Block& block : blocks) {
    DeltaNet& mixer = block.delta_net;
    if (mixer.key_heads == 0) continue;
    mixer.state = layout.add(floats(mixer.value_heads * mixer.key_dim, mixer.value_dim));
    mixer.rows = layout.add(floats(mixer.taps - 1, mixer.channels()));
  }
  slot_bytes = layout.bytes();
  if (slot_bytes == 0) return;
  slots = running_slots + checkpoint_slots;
  pools.recurrent = multiply(slot_bytes, running_slots).value_or(UINT64_MAX);
  const uint64_t kept_slots = multiply(slot_bytes, checkpoint_slots).value_or(UINT64_MAX);
  pools.checkpoints = plus(pools.checkpoints, kept_slots).value_or(UINT64_MAX);
}

void Program::place_scratch() {
  Layout layout;
  for (Embedding* each : {&embedding, &input_embedding}) {
    if (each->source == nullptr || each->offset != nowhere) continue;
    each->read = layout.add(multiply(each->stride, static_cast<uint64_t>(chunk)).value_or(UINT64_MAX));
  }
  const int64_t width = description.embedding;
  const int64_t query_width = widest(blocks, [](const Block& b) { return b.heads * b.head_dim; });
  const int64_t kv_width = widest(blocks, [](const Block& b) { return b.kv_heads * b.head_dim; });
  const int64_t gate_width =
      widest(blocks, [](const Block& b) { return std::max(b.output_gate.rows, b.delta_net.inner()); });
  const int64_t attended_width = std::max(query_width, gate_width);
  const int64_t inner_width = widest(blocks, [](const Block& b) { return std::max(b.gate.rows, b.input_gate.rows); });
  x = layout.add(floats(chunk, width));
  const int64_t normed_width =
      widest(blocks, [width](const Block& b) { return std::max({width, b.attended_norm.count, b.inner_norm.count}); });
  normed = layout.add(floats(chunk, normed_width));
  int64_t rotated_width = 0;
  for (const RotationTable& table : rotations) rotated_width = std::max(rotated_width, table.columns);
  rotated = layout.add(floats(chunk, rotated_width));
  query = layout.add(floats(chunk, query_width));
  key = layout.add(floats(chunk, kv_width));
  value = layout.add(floats(chunk, kv_width));
  attended = layout.add(floats(chunk, attended_width));
  if (threads > 1) {
    // A part more than wanted, where the pages do not divide evenly.
    const auto parts = [&](const Block& b) { return b.kv_heads == 0 ? 0 : most_parts(b.kv_heads, threads) + 1; };
    part_sums = layout.add(floats(1, widest(blocks, [&](const Block& b) { return parts(b) * b.heads * b.head_dim; })));
    part_ends = layout.add(floats(2, widest(blocks, [&](const Block& b) { return parts(b) * b.heads; })));
  }
  output_gate = layout.add(floats(chunk, gate_width));
  mixed = layout.add(floats(chunk, widest(blocks, [](const Block& b) { return b.delta_net.channels(); })));
  beta = layout.add(floats(chunk, widest(blocks, [](const Block& b) { return b.delta_net.value_heads; })));
  decay = layout.add(floats(chunk, widest(blocks, [](const Block& b) { return b.delta_net.value_heads; })));
  gate = layout.add(floats(chunk, inner_width));
  up = layout.add(floats(chunk, inner_width));
  sum = layout.add(floats(chunk, width));
  if (input_projection.rows > 0) token_inputs = layout.add(floats(chunk, input_projection.rows));
  hidden = layout.add(floats(most_logit_rows, width));
  logits = layout.add(floats(most_logit_rows, description.vocabulary));
  for (RopeTable& table : ropes) {
    table.cosine = layout.add(floats(chunk, table.rope.rotated / 2));
    table.sine = layout.add(floats(chunk, table.rope.rotated / 2));
  }

  uint64_t shared_activations = 0, own_activations = 0, kernel_scratch = 0;
  const int64_t widths[] = {1, std::min(most_logit_rows, chunk), chunk};
  const auto measure = [&](const Matrix& matrix) {
    if (matrix.kernel == nullptr) return;
    for (const int64_t tokens : widths) {
      shared_activations =
          std::max<uint64_t>(shared_activations, matrix.kernel->activation_bytes(matrix.columns, tokens));
      kernel_scratch = std::max<uint64_t>(kernel_scratch, matrix.kernel->scratch_bytes(matrix.columns, tokens));
    }
    own_activations =
        std::max<uint64_t>(own_activations, matrix.kernel->activation_bytes(matrix.columns, redundant_tokens));
  };
  const auto measure_expert = [&](const Matrix& matrix) {
    for (const int64_t tokens : {redundant_tokens, expert_tokens}) {
      own_activations = std::max<uint64_t>(own_activations, matrix.kernel->activation_bytes(matrix.columns, tokens));
      kernel_scratch = std::max<uint64_t>(kernel_scratch, matrix.kernel->scratch_bytes(matrix.columns, tokens));
    }
  };
  for (const Block& block : blocks) {
    const DeltaNet& mixer = block.delta_net;
    for (const Matrix* matrix :
         {&block.query, &block.key, &block.value, &block.output, &block.output_gate, &block.gate, &block.up,
          &block.down, &block.router, &block.shared_gate, &mixer.query, &mixer.key, &mixer.value, &mixer.gate,
          &mixer.beta, &mixer.step, &mixer.output, &block.input_gate, &block.input_projection}) {
      measure(*matrix);
    }
    if (mixer.key_heads > 0) {
      kernel_scratch = std::max<uint64_t>(kernel_scratch, delta_net->scratch_bytes(mixer.key_dim, mixer.value_dim));
    }
    if (!block.experts.empty()) {
      for (const Matrix* matrix : {&block.experts[0].gate, &block.experts[0].up, &block.experts[0].down}) {
        measure_expert(*matrix);
      }
    }
    if (block.kv_heads == 0) continue;
    const int64_t group = block.heads / block.kv_heads;
    for (const int64_t tokens : widths) {
      kernel_scratch =
          std::max<uint64_t>(kernel_scratch, attention->scratch_bytes(block.head_dim, group, tokens, page_tokens));
    }
  }
  measure(output);
  measure(input_projection);
  for (uint64_t& place : activations) place = layout.add(shared_activations);
  for (int i = 0; i < threads; ++i) {
    Desk desk;
    for (uint64_t& place : desk.activations) place = layout.add(own_activations);
    desk.normed = layout.add(floats(redundant_tokens, std::max(normed_width, attended_width)));
    desk.rotated = layout.add(floats(expert_tokens, rotated_width));
    desk.kernel = layout.add(kernel_scratch);
    if (input_projection.rows > 0) desk.token_input = layout.add(floats(1, input_projection.rows));
    desk.key_pages = layout.add(table_pages * sizeof(void*));
    desk.value_pages = layout.add(table_pages * sizeof(void*));
    desks.push_back(desk);
  }
  place_expert_scratch(layout);
  pools.scratch = layout.bytes();
}

void Program::place_expert_scratch(Layout& layout) {
  const int64_t experts = widest(blocks, [](const Block& b) { return static_cast<int64_t>(b.experts.size()); });
  if (experts == 0) return;
  const int64_t used = widest(blocks, [](const Block& b) { return b.choice.used; });
  const int64_t inner = widest(blocks, [](const Block& b) { return b.experts.empty() ? 0 : b.experts[0].gate.rows; });
  const int64_t width = description.embedding;
  static_assert(sizeof(int32_t) == sizeof(float));
  router = layout.add(floats(chunk, experts));
  shared_gate = layout.add(floats(chunk, 1));
  chosen = layout.add(floats(chunk, used));
  shares = layout.add(floats(chunk, used));
  expert_gate = layout.add(floats(used, inner));
  expert_up = layout.add(floats(used, inner));
  expert_out = layout.add(floats(chunk * used, width));
  if (std::ranges::any_of(blocks, &Block::apart)) apart = layout.add(floats(chunk, width));
  for (Desk& desk : desks) {
    desk.scores = layout.add(6 * floats(1, experts));  // as double: scores, ranks, groups
    desk.chosen = layout.add(floats(1, used));
    desk.shares = layout.add(floats(1, used));
    desk.ends = layout.add(floats(1, experts + 1));
    desk.order = layout.add(floats(chunk, used));
    desk.places = layout.add(floats(chunk, used));
    desk.expert_rows = layout.add(floats(expert_tokens, width));
    desk.expert_gate = layout.add(floats(expert_tokens, inner));
    desk.expert_up = layout.add(floats(expert_tokens, inner));
  }
}

}  // namespace halogen::backend::cpu
