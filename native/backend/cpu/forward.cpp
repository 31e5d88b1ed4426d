#include <cmath>
#include <cstring>
#include <numeric>

#include "native/backend/cpu/pass.h"
#include "native/engine/error.h"

namespace halogen::backend::cpu {

void Pass::run() {
  begin();
  if (program_.input_projection.rows > 0) token_inputs();
  for (size_t layer = 0; layer < program_.blocks.size(); ++layer) {
    const Block& block = program_.blocks[layer];
    const bool more = block.input_gate.rows > 0;
    if (block.delta_net.key_heads > 0) {
      delta_net(block);
    } else {
      attention(block);
    }
    feed_forward(block, more ? 1 : block.output_scale);
    if (more) token_input(block, layer);
    if (model_.stopped_.load(std::memory_order_relaxed)) return;
  }
  head();
}

void Pass::begin() {
  const int64_t width = program_.description.embedding;
  const Range own = part(tokens_, 1, member_.index(), member_.count());
  for (int64_t t = own.begin; t < own.end; ++t) {
    const CpuModel::Row& row = model_.rows_[static_cast<size_t>(t)];
    program_.embedding.dequantize(row_of(program_.embedding, t), scratch(program_.x) + t * width, width);
    if (const float scale = program_.description.embedding_scale * program_.embedding.scale; scale != 1) {
      float* x = scratch(program_.x) + t * width;
      for (int64_t i = 0; i < width; ++i) x[i] *= scale;
    }
    for (size_t i = 0; i < program_.ropes.size(); ++i) {
      const RopeTable& table = program_.ropes[i];
      const int64_t half = table.rope.rotated / 2;
      float* cosine = scratch(table.cosine) + t * half;
      float* sine = scratch(table.sine) + t * half;
      for (int64_t j = 0; j < half; ++j) {
        const double angle = static_cast<double>(row.position) * model_.frequencies_[i][static_cast<size_t>(j)];
        cosine[j] = static_cast<float>(std::cos(angle) * table.rope.magnitude);
        sine[j] = static_cast<float>(std::sin(angle) * table.rope.magnitude);
      }
    }
  }
  member_.barrier();
}

void Pass::prepare(const float* source, int64_t rows, const Vector* norm, Users users) {
  const int64_t width = (*users.begin())->columns;
  const bool own = rows <= redundant_tokens;
  int64_t granule = 1;
  for (const Matrix* user : users) {
    if (user->rows > 0) granule = std::lcm(granule, user->kernel->token_granule);
  }
  const Range range = own ? Range{0, rows} : part(rows, granule, member_.index(), member_.count());
  if (norm != nullptr) {
    float* normed = own ? scratch(desk_.normed) : scratch(program_.normed);
    for (int64_t t = range.begin; t < range.end; ++t) {
      program_.rms_norm(source + t * width, weights(*norm), normed + t * width, width,
                        program_.description.norm_epsilon);
    }
    source = normed;
  }
  form(source, rows, range, users, own);
  if (!own) member_.barrier();
}

void Pass::form(const float* source, int64_t rows, Range range, Users users, bool own) {
  const int64_t width = (*users.begin())->columns;
  form_count_ = 0;
  for (const Matrix* user : users) {
    if (user->rows == 0 || form_of(*user) != nullptr) continue;
    void* place = scratch<void>(own ? desk_.activations[form_count_] : program_.activations[form_count_]);
    forms_[form_count_++] = {user, place};
    if (range.begin >= range.end) continue;
    const float* input = source;
    if (user->rotation >= 0) {
      float* rotated = scratch(own ? desk_.rotated : program_.rotated);
      const kernel::Rotation rotation = model_.rotation(user->rotation);
      for (int64_t t = range.begin; t < range.end; ++t)
        program_.rotate(source + t * width, rotated + t * width, rotation);
      input = rotated;
    }
    user->kernel->prepare(input, width, place, width, rows, range.begin, range.end);
  }
}

const void* Pass::form_of(const Matrix& matrix) const {
  for (int i = 0; i < form_count_; ++i) {
    const Matrix& other = *forms_[i].user;
    if (other.rotation == matrix.rotation && other.kernel->prepare == matrix.kernel->prepare &&
        other.kernel->activation_bytes == matrix.kernel->activation_bytes)
      return forms_[i].place;
  }
  return nullptr;
}

void Pass::multiply(const Projection& projection, int64_t rows, Range range) {
  if (range.begin >= range.end) return;
  const Matrix& matrix = *projection.matrix;
  const kernel::MatmulRun run{model_.weights_.at<const void>(matrix.offset),
                              form_of(matrix),
                              projection.out,
                              projection.stride,
                              matrix.rows,
                              matrix.columns,
                              range.begin,
                              range.end,
                              rows,
                              scratch(desk_.kernel)};
  matrix.kernel->run(run);
  for (int64_t t = 0; matrix.scale != 1 && t < rows; ++t) {
    for (int64_t r = range.begin; r < range.end; ++r) projection.out[t * projection.stride + r] *= matrix.scale;
  }
  if (matrix.bias.source == nullptr) return;
  for (int64_t t = 0; t < rows; ++t) {
    program_.add(projection.out + t * projection.stride + range.begin, weights(matrix.bias) + range.begin,
                 range.end - range.begin);
  }
}

void Pass::multiply_all(std::span<const Projection> projections) {
  if (alone()) {
    for (const Projection& each : projections)
      multiply(each, tokens_, own_part(each.matrix->rows, each.matrix->kernel->row_granule));
    return;
  }
  int64_t unit = member_.take();
  int64_t base = 0;
  for (const Projection& each : projections) {
    const int64_t granule = each.matrix->kernel->row_granule;
    const int64_t step = std::max(granule, (int64_t{128} + granule - 1) / granule * granule);
    const int64_t units = (each.matrix->rows + step - 1) / step;
    for (; unit < base + units; unit = member_.take()) {
      const int64_t begin = (unit - base) * step;
      multiply(each, tokens_, {begin, std::min(each.matrix->rows, begin + step)});
    }
    base += units;
  }
}

void Pass::add_product(const Matrix& matrix, const float* source, const Vector& source_norm, const Ending& ending) {
  prepare(source, tokens_, source_norm.source != nullptr ? &source_norm : nullptr, {&matrix});
  float* sum = scratch(program_.sum);
  float* x = scratch(program_.x);
  const bool in_parts = ending.norm.source == nullptr && ending.apart == nullptr && ending.scale == 1;
  share(matrix.rows, matrix.kernel->row_granule, [&](Range rows) {
    multiply(matrix, tokens_, sum, rows);
    if (!in_parts) return;
    for (int64_t t = 0; t < tokens_; ++t) {
      program_.add(x + t * matrix.rows + rows.begin, sum + t * matrix.rows + rows.begin, rows.end - rows.begin);
    }
  });
  if (!in_parts) {
    member_.barrier();
    const Range own = part(tokens_, 1, member_.index(), member_.count());
    for (int64_t t = own.begin; t < own.end; ++t) {
      float* row = sum + t * matrix.rows;
      if (ending.apart != nullptr) {
        float* other = scratch(program_.apart) + t * matrix.rows;
        normalise(row, ending.apart->beside_output_norm);
        normalise(other, ending.apart->experts_output_norm);
        program_.add(row, other, matrix.rows);
      }
      if (ending.norm.source != nullptr) normalise(row, ending.norm);
      program_.add(x + t * matrix.rows, row, matrix.rows);
      for (int64_t i = 0; ending.scale != 1 && i < matrix.rows; ++i) x[t * matrix.rows + i] *= ending.scale;
    }
  }
  end_stage();
}

void Pass::end_stage() {
  // One member decides for all, before the barrier that shows it to all.
  if (member_.index() == 0 && stop_.load(std::memory_order_relaxed))
    model_.stopped_.store(true, std::memory_order_relaxed);
  member_.barrier();
}

void Pass::normalise(float* row, const Vector& norm) const {
  program_.rms_norm(row, weights(norm), row, norm.count, program_.description.norm_epsilon);
}

void Pass::feed_forward(const Block& block, float scale) {
  if (!block.experts.empty()) experts(block);
  if (block.experts.empty() || block.apart()) {
    prepare(scratch(program_.x), tokens_, &block.feed_forward_norm, {&block.gate, &block.up});
  } else {
    // One token went through the feed-forward beside the experts together with them.
    if (block.gate.rows == 0 || (alone() && block.beside())) return;
    prepare(scratch(alone() ? desk_.normed : program_.normed), tokens_, nullptr, {&block.gate, &block.up});
  }
  share(block.gate.rows, block.feed_granule(), [&](Range rows) { feed_rows(block, rows); });
  member_.barrier();
  add_product(block.down, scratch(program_.gate), block.inner_norm,
              {block.feed_forward_output_norm, block.apart() ? &block : nullptr, scale});
}

void Pass::feed_rows(const Block& block, Range rows) {
  if (rows.begin >= rows.end) return;
  float* gate = scratch(program_.gate);
  float* up = scratch(program_.up);
  const int64_t width = block.gate.rows;
  multiply(block.gate, tokens_, gate, rows);
  multiply(block.up, tokens_, up, rows);
  for (int64_t t = 0; t < tokens_; ++t) {
    const int64_t at = t * width + rows.begin;
    block.activate(gate + at, up + at, gate + at, rows.end - rows.begin);
    if (block.shared_gate.rows == 0) continue;
    const float share = 1.0f / (1.0f + std::exp(-scratch(program_.shared_gate)[t]));
    for (int64_t i = 0; i < rows.end - rows.begin; ++i) gate[at + i] *= share;
  }
}

void Pass::head() {
  const int64_t rows = static_cast<int64_t>(model_.logit_rows_.size());
  if (rows == 0) return;
  const int64_t width = program_.description.embedding;
  const float* source = scratch(program_.x) + model_.logit_rows_[0] * width;
  if (rows > redundant_tokens) {
    const Range own = part(rows, 1, member_.index(), member_.count());
    for (int64_t i = own.begin; i < own.end; ++i) {
      std::memcpy(scratch(program_.hidden) + i * width,
                  scratch(program_.x) + model_.logit_rows_[static_cast<size_t>(i)] * width,
                  static_cast<size_t>(width) * sizeof(float));
    }
    member_.barrier();
    source = scratch(program_.hidden);
  }
  const Matrix& output = program_.output;
  prepare(source, rows, &program_.output_norm, {&output});
  const Range own = part(output.rows, output.kernel->row_granule, member_.index(), member_.count());
  float* logits = scratch(program_.logits);
  multiply(output, rows, logits, own);
  const float cap = program_.description.logit_cap;
  for (int64_t t = 0; cap > 0 && t < rows && own.begin < own.end; ++t) {
    program_.softcap(logits + t * output.rows + own.begin, cap, own.end - own.begin);
  }
}

void CpuModel::look_up() const {
  for (const Lookup& each : lookups_) {
    each.reader->check_unchanged();
    for (size_t t = 0; t < rows_.size(); ++t) {
      const Embedding& embedding = *each.embedding;
      each.reader->read(each.offset + static_cast<uint64_t>(rows_[t].token) * embedding.row_bytes, embedding.row_bytes,
                        scratch_.at<void>(embedding.read + t * embedding.stride));
    }
  }
}

void CpuModel::check_pages(const Segment& segment) const {
  const int64_t end = segment.position + static_cast<int64_t>(segment.tokens.size());
  for (size_t i = 0; i < program_.groups.size(); ++i) {
    const PageGroup& group = program_.groups[i];
    const std::span<const uint32_t> pages = segment.pages[i];
    const int64_t seen = group.window > 0 ? std::max<int64_t>(0, segment.position - group.window + 1) : 0;
    for (int64_t page = seen / cpu::page_tokens; page * cpu::page_tokens < end; ++page) {
      const auto index = static_cast<size_t>(page);
      if (index < pages.size() && pages[index] < group.pages) continue;
      throw Error(code::internal, "Keys and values that are needed are not in memory.", "Start the reply again.",
                  {{"position", segment.position}, {"page", page}, {"window", group.window}});
    }
  }
}

bool CpuModel::forward(std::span<const Segment> segments, const std::atomic<bool>& stop) {
  rows_.clear();
  logit_rows_.clear();
  for (const Segment& segment : segments) {
    check_pages(segment);
    for (size_t i = 0; i < segment.tokens.size(); ++i) {
      if (static_cast<int64_t>(i) >= segment.logits_from) logit_rows_.push_back(static_cast<int64_t>(rows_.size()));
      rows_.push_back({segment.tokens[i], segment.position + static_cast<int64_t>(i), &segment});
    }
  }
  look_up();
  stopped_.store(false, std::memory_order_relaxed);
  team_.run([&](Team::Member& member) { Pass(*this, segments, stop, member).run(); });
  return !stopped_.load(std::memory_order_relaxed);
}

}  // namespace halogen::backend::cpu
