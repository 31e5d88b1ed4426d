// Filling a CpuModel's weights from the file: matrices are packed by all threads, block of rows by block of rows.
#include <cstring>
#include <memory>

#include "native/backend/cpu/model.h"
#include "native/engine/error.h"
#include "native/engine/model/rope.h"

namespace halogen::backend::cpu {
namespace {

constexpr uint64_t block_bytes = 1 << 20;

// Rows [begin, end) of one matrix.
struct Task {
  const Matrix* matrix;
  int64_t begin, end;
  uint64_t row_bytes;
};

uint64_t row_bytes_of(const Matrix& matrix) {
  return matrix.source->bytes / (matrix.source->elements / static_cast<uint64_t>(matrix.columns));
}

// Of one whose rows alternate with another's, all at once: they are gathered first.
void add_tasks(std::vector<Task>& tasks, const Matrix& matrix) {
  const uint64_t row_bytes = row_bytes_of(matrix);
  const int64_t granule = matrix.kernel != nullptr ? matrix.kernel->row_granule : 1;
  int64_t step = static_cast<int64_t>(block_bytes / row_bytes) / granule * granule;
  if (step < granule) step = granule;
  if (matrix.together > 0) step = matrix.rows;
  for (int64_t begin = 0; begin < matrix.rows; begin += step) {
    tasks.push_back({&matrix, begin, std::min(matrix.rows, begin + step), row_bytes});
  }
}

// Rows [begin, end) of what `matrix` is cut from, where a tensor comes by rows; the others stay untouched memory.
std::unique_ptr<uint8_t[]> read_rows(const Matrix& matrix, int64_t begin, int64_t end, int64_t all,
                                     uint64_t row_bytes) {
  std::unique_ptr<uint8_t[]> rows(new uint8_t[static_cast<uint64_t>(all) * row_bytes]);
  const uint64_t first = matrix.source_offset / row_bytes;
  matrix.source->rows->read(first + static_cast<uint64_t>(begin), first + static_cast<uint64_t>(end),
                            rows.get() + static_cast<uint64_t>(begin) * row_bytes);
  return rows;
}

std::vector<uint8_t> gathered(const uint8_t* source, const Matrix& matrix, uint64_t row_bytes) {
  std::vector<uint8_t> rows(static_cast<uint64_t>(matrix.rows) * row_bytes);
  const uint64_t bytes = static_cast<uint64_t>(matrix.together) * row_bytes;
  for (uint64_t to = 0; to < rows.size(); to += bytes, source += static_cast<uint64_t>(matrix.stride) * row_bytes) {
    std::memcpy(rows.data() + to, source, bytes);
  }
  return rows;
}

}  // namespace

CpuModel::CpuModel(Program program, std::vector<int> cores)
    : program_(std::move(program)),
      weights_("weights", program_.pools.weights),
      kv_("kv", program_.pools.kv + program_.kept_page_bytes),
      state_("recurrent", program_.slots * program_.slot_bytes),
      scratch_("scratch", program_.pools.scratch),
      allocated_{weights_.bytes(), kv_.bytes() - program_.kept_page_bytes, program_.pools.recurrent,
                 state_.bytes() - program_.pools.recurrent + program_.kept_page_bytes, scratch_.bytes()},
      team_(program_.threads, std::move(cores)) {
  rows_.reserve(static_cast<size_t>(program_.chunk));
}

void CpuModel::load(const gguf::File& file, const ProgressCallback& on_progress, const std::atomic<bool>& cancel) {
  const auto load_vector = [&](const Vector& vector) {
    if (vector.source == nullptr) return;
    vector.dequantize(file.tensor_data(*vector.source) + vector.source_offset, weights_.at<float>(vector.offset),
                      vector.count);
  };
  // A channel's taps stand together in the file, and here a tap of all channels.
  const auto load_convolution = [&](const DeltaNet& mixer) {
    const Vector& vector = mixer.convolution;
    if (vector.source == nullptr) return;
    std::vector<float> taps(static_cast<size_t>(vector.count));
    vector.dequantize(file.tensor_data(*vector.source), taps.data(), vector.count);
    float* to = weights_.at<float>(vector.offset);
    for (int64_t c = 0; c < mixer.channels(); ++c) {
      for (int64_t k = 0; k < mixer.taps; ++k)
        to[k * mixer.channels() + c] = taps[static_cast<size_t>(c * mixer.taps + k)];
    }
  };
  std::vector<Task> tasks;
  const auto load_matrix = [&](const Matrix& matrix) {
    if (matrix.source == nullptr) return;
    add_tasks(tasks, matrix);
    load_vector(matrix.bias);
  };
  std::vector<Matrix> copied;
  for (const Embedding* each : {&program_.embedding, &program_.input_embedding}) {
    if (each->source == nullptr) continue;
    if (each->offset == nowhere) {
      lookups_.push_back({each, each->source->mapping->reader(), each->source->offset});
      continue;
    }
    Matrix rows;
    rows.rows = each->rows;
    rows.columns = each->columns;
    rows.offset = each->offset;
    rows.source = each->source;
    copied.push_back(rows);
  }
  for (const Matrix& rows : copied) add_tasks(tasks, rows);
  load_matrix(program_.input_projection);
  load_vector(program_.input_norm);
  for (const Block& block : program_.blocks) {
    for (const Vector* vector :
         {&block.attention_norm, &block.query_norm, &block.key_norm, &block.attended_norm, &block.sinks,
          &block.inner_norm, &block.attention_output_norm, &block.feed_forward_norm, &block.feed_forward_output_norm,
          &block.choice_bias, &block.delta_net.step_bias, &block.delta_net.decay, &block.delta_net.norm,
          &block.router_norm, &block.experts_norm, &block.experts_output_norm, &block.beside_output_norm,
          &block.input_norm}) {
      load_vector(*vector);
    }
    load_convolution(block.delta_net);
    const DeltaNet& mixer = block.delta_net;
    for (const Matrix* matrix :
         {&block.query, &block.key, &block.value, &block.output, &block.output_gate, &block.gate, &block.up,
          &block.down, &block.router, &block.shared_gate, &mixer.query, &mixer.key, &mixer.value, &mixer.gate,
          &mixer.beta, &mixer.step, &mixer.output, &block.input_gate, &block.input_projection}) {
      load_matrix(*matrix);
    }
    for (const Expert& expert : block.experts) {
      for (const Matrix* matrix : {&expert.gate, &expert.up, &expert.down}) load_matrix(*matrix);
    }
  }
  load_vector(program_.output_norm);
  load_matrix(program_.output);

  for (const RopeTable& table : program_.ropes) {
    std::vector<float> factors;
    if (const gguf::Tensor* tensor = table.rope.factors; tensor != nullptr) {
      factors.resize(static_cast<size_t>(table.rope.rotated / 2));
      table.dequantize(file.tensor_data(*tensor), factors.data(), table.rope.rotated / 2);
    }
    frequencies_.push_back(model::rope_frequencies(table.rope, factors));
  }

  load_rotations();

  uint64_t total = 0;
  for (const Task& task : tasks) total += static_cast<uint64_t>(task.end - task.begin) * task.row_bytes;
  std::atomic<uint64_t> done{0};
  team_.run([&](Team::Member& member) {
    while (!cancel.load(std::memory_order_relaxed)) {
      const size_t next = static_cast<size_t>(member.take());
      if (next >= tasks.size()) break;
      const Task& task = tasks[next];
      const Matrix& matrix = *task.matrix;
      const int64_t all =
          matrix.together > 0 ? (matrix.rows / matrix.together - 1) * matrix.stride + matrix.together : matrix.rows;
      std::unique_ptr<uint8_t[]> made;
      const uint8_t* source = nullptr;
      if (matrix.source->rows == nullptr) {
        source = file.tensor_data(*matrix.source) + matrix.source_offset;
      } else {
        const bool whole = matrix.together > 0;
        made = read_rows(matrix, whole ? 0 : task.begin, whole ? all : task.end, all, task.row_bytes);
        source = made.get();
      }
      const uint64_t from = static_cast<uint64_t>(task.begin) * task.row_bytes;
      const uint64_t bytes = static_cast<uint64_t>(task.end - task.begin) * task.row_bytes;
      uint64_t span = bytes;
      std::vector<uint8_t> rows;
      if (matrix.together > 0) {
        rows = gathered(source, matrix, task.row_bytes);
        source = rows.data();
        span = static_cast<uint64_t>(all) * task.row_bytes;
      }
      if (matrix.kernel != nullptr && matrix.kernel->pack != nullptr) {
        matrix.kernel->pack(source, weights_.at<void>(matrix.offset), matrix.rows, matrix.columns, task.begin,
                            task.end);
      } else {
        std::memcpy(weights_.at<uint8_t>(matrix.offset) + from, source + from, bytes);
      }
      // The packed copy replaces these pages of the file: resident memory never holds both.
      file.release(*matrix.source, matrix.source_offset + from, matrix.source_offset + from + span);
      const uint64_t sum = done.fetch_add(bytes, std::memory_order_relaxed) + bytes;
      if (member.index() == 0 && on_progress) on_progress({"load", sum, total});
    }
  });
  if (cancel.load(std::memory_order_relaxed)) {
    throw Error(code::request_cancelled, "Loading was cancelled.", "", {{"done", done.load()}, {"total", total}});
  }
  if (on_progress) on_progress({"load", total, total});
}

const float* CpuModel::logits(int64_t row) const {
  return scratch_.at<float>(program_.logits) + row * program_.description.vocabulary;
}

void CpuModel::copy_page(size_t group, uint32_t from, uint32_t to) {
  std::memcpy(kv_.at<uint8_t>(program_.page_at(group, to)), kv_.at<uint8_t>(program_.page_at(group, from)),
              program_.groups[group].page_bytes);
}

void CpuModel::copy_slot(uint32_t from, uint32_t to) {
  std::memcpy(state_.at<uint8_t>(to * program_.slot_bytes), state_.at<uint8_t>(from * program_.slot_bytes),
              program_.slot_bytes);
}

void CpuModel::clear_slot(uint32_t slot) {
  std::memset(state_.at<uint8_t>(slot * program_.slot_bytes), 0, program_.slot_bytes);
}

}  // namespace halogen::backend::cpu
