// Filling a CpuModel's weights from the file: matrices are packed by all threads, block of rows by block of rows.
#include <cstring>

#include "native/backend/cpu/model.h"
#include "native/engine/error.h"
#include "native/engine/model/rope.h"

namespace halogen::backend::cpu {
namespace {

constexpr uint64_t block_bytes = 1 << 20;

// Rows [begin, end) of one matrix. No kernel: the embedding, copied as it is.
struct Task {
  const kernel::Matmul* kernel;
  const gguf::Tensor* source;
  uint64_t source_offset;
  uint64_t offset;
  int64_t rows, columns;
  int64_t begin, end;
  uint64_t row_bytes;
};

void add_tasks(std::vector<Task>& tasks, const kernel::Matmul* kernel, const gguf::Tensor* source,
               uint64_t source_offset, uint64_t offset, int64_t rows, int64_t columns) {
  const uint64_t row_bytes = source->bytes / (source->elements / static_cast<uint64_t>(columns));
  const int64_t granule = kernel != nullptr ? kernel->row_granule : 1;
  int64_t step = static_cast<int64_t>(block_bytes / row_bytes) / granule * granule;
  if (step < granule) step = granule;
  for (int64_t begin = 0; begin < rows; begin += step) {
    tasks.push_back(
        {kernel, source, source_offset, offset, rows, columns, begin, std::min(rows, begin + step), row_bytes});
  }
}

}  // namespace

CpuModel::CpuModel(Program program, std::vector<int> cores)
    : program_(std::move(program)),
      weights_("weights", program_.pools.weights),
      kv_("kv", program_.pools.kv),
      scratch_("scratch", program_.pools.scratch),
      allocated_{weights_.bytes(), kv_.bytes(), 0, 0, scratch_.bytes()},
      team_(program_.threads, std::move(cores)) {
  rows_.reserve(static_cast<size_t>(program_.chunk));
}

void CpuModel::load(const gguf::File& file, const ProgressCallback& on_progress, const std::atomic<bool>& cancel) {
  const auto load_vector = [&](const Vector& vector) {
    if (vector.source == nullptr) return;
    vector.dequantize(file.tensor_data(*vector.source) + vector.source_offset, weights_.at<float>(vector.offset),
                      vector.count);
  };
  std::vector<Task> tasks;
  const auto load_matrix = [&](const Matrix& matrix) {
    if (matrix.source == nullptr) return;
    add_tasks(tasks, matrix.kernel, matrix.source, matrix.source_offset, matrix.offset, matrix.rows, matrix.columns);
    load_vector(matrix.bias);
  };
  const Embedding& embedding = program_.embedding;
  add_tasks(tasks, nullptr, embedding.source, 0, embedding.offset, embedding.rows, program_.description.embedding);
  for (const Block& block : program_.blocks) {
    for (const Vector* vector :
         {&block.attention_norm, &block.query_norm, &block.key_norm, &block.attended_norm, &block.sinks, &block.inner_norm, &block.attention_output_norm,
          &block.feed_forward_norm, &block.feed_forward_output_norm, &block.choice_bias}) {
      load_vector(*vector);
    }
    for (const Matrix* matrix : {&block.query, &block.key, &block.value, &block.output, &block.gate, &block.up,
                                 &block.down, &block.router, &block.shared_gate}) {
      load_matrix(*matrix);
    }
    for (const Expert& expert : block.experts) {
      for (const Matrix* matrix : {&expert.gate, &expert.up, &expert.down}) load_matrix(*matrix);
    }
  }
  load_vector(program_.output_norm);
  if (program_.output.offset != embedding.offset) load_matrix(program_.output);

  for (const RopeTable& table : program_.ropes) {
    std::vector<float> factors;
    if (const gguf::Tensor* tensor = table.rope.factors; tensor != nullptr) {
      factors.resize(static_cast<size_t>(table.rope.rotated / 2));
      table.dequantize(file.tensor_data(*tensor), factors.data(), table.rope.rotated / 2);
    }
    frequencies_.push_back(model::rope_frequencies(table.rope, factors));
  }

  uint64_t total = 0;
  for (const Task& task : tasks) total += static_cast<uint64_t>(task.end - task.begin) * task.row_bytes;
  std::atomic<uint64_t> done{0};
  team_.run([&](Team::Member& member) {
    while (!cancel.load(std::memory_order_relaxed)) {
      const size_t next = static_cast<size_t>(member.take());
      if (next >= tasks.size()) break;
      const Task& task = tasks[next];
      const uint8_t* source = file.tensor_data(*task.source) + task.source_offset;
      const uint64_t from = static_cast<uint64_t>(task.begin) * task.row_bytes;
      const uint64_t bytes = static_cast<uint64_t>(task.end - task.begin) * task.row_bytes;
      if (task.kernel != nullptr && task.kernel->pack != nullptr) {
        task.kernel->pack(source, weights_.at<void>(task.offset), task.rows, task.columns, task.begin, task.end);
      } else {
        std::memcpy(weights_.at<uint8_t>(task.offset) + from, source + from, bytes);
      }
      // The packed copy replaces these pages of the file: resident memory never holds both.
      const uint64_t at = task.source->offset + task.source_offset + from;
      file.mapping().drop(at, at + bytes);
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

void CpuModel::copy_page(uint32_t from, uint32_t to) {
  std::memcpy(kv_.at<uint8_t>(to * program_.page_bytes), kv_.at<uint8_t>(from * program_.page_bytes),
              program_.page_bytes);
}

}  // namespace halogen::backend::cpu
