// One forward pass, run by every member of the team at once. A stage ends at a barrier; within it, members write
// disjoint rows.
#include <algorithm>
#include <cmath>
#include <cstring>
#include <numeric>

#include "native/backend/cpu/model.h"

namespace halogen::backend::cpu {
namespace {

constexpr int64_t attention_tokens = 32;

struct Range {
  int64_t begin, end;
};

// Part `index` of `count` equal parts of [0, total) in whole granules.
Range part(int64_t total, int64_t granule, int64_t index, int64_t count) {
  const int64_t granules = (total + granule - 1) / granule;
  return {std::min(total, granules * index / count * granule),
          std::min(total, granules * (index + 1) / count * granule)};
}

}  // namespace

class Pass {
 public:
  Pass(CpuModel& model, std::span<const Segment> segments, const std::atomic<bool>& stop, Team::Member& member)
      : model_(model),
        program_(model.program_),
        segments_(segments),
        stop_(stop),
        member_(member),
        desk_(program_.desks[static_cast<size_t>(member.index())]),
        tokens_(static_cast<int64_t>(model.rows_.size())) {}

  void run() {
    begin();
    for (const Block& block : program_.blocks) {
      attention(block);
      feed_forward(block);
      if (model_.stopped_.load(std::memory_order_relaxed)) return;
    }
    head();
  }

 private:
  using Users = std::initializer_list<const Matrix*>;

  float* scratch(uint64_t offset) const { return model_.scratch_.at<float>(offset); }
  const float* weights(const Vector& vector) const {
    return vector.source != nullptr ? model_.weights_.at<const float>(vector.offset) : nullptr;
  }
  bool alone() const { return tokens_ <= redundant_tokens; }

  // Embeddings and the angles of every position.
  void begin() {
    const int64_t width = program_.description.embedding;
    const Range own = part(tokens_, 1, member_.index(), member_.count());
    for (int64_t t = own.begin; t < own.end; ++t) {
      const CpuModel::Row& row = model_.rows_[static_cast<size_t>(t)];
      const uint64_t offset =
          program_.embedding.offset + static_cast<uint64_t>(row.token) * program_.embedding.row_bytes;
      program_.embedding.dequantize(model_.weights_.at<const void>(offset), scratch(program_.x) + t * width, width);
      if (const float scale = program_.description.embedding_scale; scale != 1) {
        float* x = scratch(program_.x) + t * width;
        for (int64_t i = 0; i < width; ++i) x[i] *= scale;
      }
      for (size_t i = 0; i < program_.ropes.size(); ++i) {
        const RopeTable& table = program_.ropes[i];
        const int64_t half = table.rotated / 2;
        float* cosine = scratch(table.cosine) + t * half;
        float* sine = scratch(table.sine) + t * half;
        for (int64_t j = 0; j < half; ++j) {
          const double angle = static_cast<double>(row.position) * model_.frequencies_[i][static_cast<size_t>(j)];
          cosine[j] = static_cast<float>(std::cos(angle));
          sine[j] = static_cast<float>(std::sin(angle));
        }
      }
    }
    member_.barrier();
  }

  // Source rows (normalised first, where `norm` is given) in the form each user's kernel takes; users whose kernels
  // share a form share the result. Ends with a barrier unless every member works for itself.
  void prepare(const float* source, int64_t rows, const Vector* norm, Users users) {
    const int64_t width = (*users.begin())->columns;
    const bool own = rows <= redundant_tokens;
    int64_t granule = 1;
    for (const Matrix* user : users) granule = std::lcm(granule, user->kernel->token_granule);
    const Range range = own ? Range{0, rows} : part(rows, granule, member_.index(), member_.count());
    if (norm != nullptr) {
      float* normed = own ? scratch(desk_.normed) : scratch(program_.normed);
      for (int64_t t = range.begin; t < range.end; ++t) {
        program_.rms_norm(source + t * width, weights(*norm), normed + t * width, width,
                          program_.description.norm_epsilon);
      }
      source = normed;
    }
    form_count_ = 0;
    for (const Matrix* user : users) {
      if (form_of(*user) != nullptr) continue;
      void* place = model_.scratch_.at<void>(own ? desk_.activations[form_count_] : program_.activations[form_count_]);
      forms_[form_count_++] = {user->kernel, place};
      if (range.begin < range.end) user->kernel->prepare(source, width, place, width, rows, range.begin, range.end);
    }
    if (!own) member_.barrier();
  }

  const void* form_of(const Matrix& matrix) const {
    for (int i = 0; i < form_count_; ++i) {
      const kernel::Matmul& other = *forms_[i].kernel;
      if (other.prepare == matrix.kernel->prepare && other.activation_bytes == matrix.kernel->activation_bytes)
        return forms_[i].place;
    }
    return nullptr;
  }

  void multiply(const Matrix& matrix, int64_t rows, float* out, Range range) {
    if (range.begin >= range.end) return;
    const kernel::MatmulRun run{model_.weights_.at<const void>(matrix.offset),
                                form_of(matrix),
                                out,
                                matrix.rows,
                                matrix.rows,
                                matrix.columns,
                                range.begin,
                                range.end,
                                rows,
                                scratch(desk_.kernel)};
    matrix.kernel->run(run);
    if (matrix.bias.source == nullptr) return;
    for (int64_t t = 0; t < rows; ++t) {
      program_.add(out + t * matrix.rows + range.begin, weights(matrix.bias) + range.begin, range.end - range.begin);
    }
  }

  // Calls body(range) for this member's share of `total` rows. Wide steps share dynamically, so that a busy core holds
  // nobody up.
  template <typename Body>
  void share(int64_t total, int64_t granule, Body&& body) {
    if (alone()) {
      const Range range = part(total, granule, member_.index(), member_.count());
      if (range.begin < range.end) body(range);
      return;
    }
    int64_t step = (total / (4 * member_.count()) + granule - 1) / granule * granule;
    step = std::max(step, (std::min<int64_t>(total, 32) + granule - 1) / granule * granule);
    for (int64_t begin = member_.take() * step; begin < total; begin = member_.take() * step) {
      body(Range{begin, std::min(total, begin + step)});
    }
  }

  void attention(const Block& block) {
    const int64_t tokens = tokens_;
    prepare(scratch(program_.x), tokens, &block.attention_norm, {&block.query, &block.key, &block.value});
    if (!block.heads_whole) {
      for (const auto& [matrix, out] : projections(block)) {
        multiply(*matrix, tokens, out,
                 part(matrix->rows, matrix->kernel->row_granule, member_.index(), member_.count()));
      }
      member_.barrier();
    }
    const int64_t units = block.heads + 2 * block.kv_heads;
    if (alone()) {
      const Range own = part(units, 1, member_.index(), member_.count());
      project(block, own.begin, own.end);
    } else {
      for (int64_t unit = member_.take(); unit < units; unit = member_.take()) project(block, unit, unit + 1);
    }
    member_.barrier();
    attend(block);
    member_.barrier();
    add_product(block.output, scratch(program_.attended), block.attention_output_norm);
  }

  struct Projection {
    const Matrix* matrix;
    float* out;
  };
  std::array<Projection, 3> projections(const Block& block) const {
    return {{{&block.query, scratch(program_.query)},
             {&block.key, scratch(program_.key)},
             {&block.value, scratch(program_.value)}}};
  }

  // Heads [begin, end) of the query, then key, then value heads: product, norm, rope, and the store into pages.
  void project(const Block& block, int64_t begin, int64_t end) {
    const int64_t heads[] = {block.heads, block.kv_heads, block.kv_heads};
    int64_t base = 0;
    for (size_t i = 0; i < 3; base += heads[i], ++i) {
      const Range own{std::max<int64_t>(begin - base, 0), std::min(end - base, heads[i])};
      if (own.begin >= own.end) continue;
      const auto [matrix, out] = projections(block)[i];
      if (block.heads_whole) multiply(*matrix, tokens_, out, {own.begin * block.head_dim, own.end * block.head_dim});
      const Vector& norm = i == 0 ? block.query_norm : block.key_norm;
      const RopeTable& table = program_.ropes[block.rope];
      for (int64_t t = 0; t < tokens_; ++t) {
        float* first = out + t * matrix->rows + own.begin * block.head_dim;
        if (i < 2) {
          for (int64_t h = 0; norm.source != nullptr && h < own.end - own.begin; ++h) {
            float* head = first + h * block.head_dim;
            program_.rms_norm(head, weights(norm), head, block.head_dim, program_.description.norm_epsilon);
          }
          if (table.rotated > 0) {
            const int64_t half = table.rotated / 2;
            program_.rope(first, own.end - own.begin, block.head_dim, table.rotated, scratch(table.cosine) + t * half,
                          scratch(table.sine) + t * half, block.neox);
          }
        }
        if (i > 0) store(block, t, own, first, i == 2);
      }
    }
  }

  void store(const Block& block, int64_t t, Range heads, const float* first, bool values) {
    const CpuModel::Row& row = model_.rows_[static_cast<size_t>(t)];
    const uint32_t page = row.segment->pages[static_cast<size_t>(row.position / page_tokens)];
    const uint64_t slot = static_cast<uint64_t>(row.position % page_tokens * block.head_dim) * program_.kv_element;
    for (int64_t h = heads.begin; h < heads.end; ++h) {
      program_.kv_store(first + (h - heads.begin) * block.head_dim, page_of(block, page, h, values) + slot,
                        block.head_dim);
    }
  }

  uint8_t* page_of(const Block& block, uint32_t page, int64_t kv_head, bool values) const {
    const uint64_t index = static_cast<uint64_t>(kv_head) * 2 + (values ? 1 : 0);
    return model_.kv_.at<uint8_t>(page * program_.page_bytes + block.kv_offset + index * block.kv_bytes);
  }

  void attend(const Block& block) {
    const int64_t group = block.heads / block.kv_heads;
    int64_t first_row = 0;
    int64_t unit = alone() ? 0 : member_.take();
    int64_t base = 0;
    for (const Segment& segment : segments_) {
      const int64_t count = static_cast<int64_t>(segment.tokens.size());
      if (alone()) {
        // One token: query heads are shared out one by one, also within a group.
        const Range own = part(block.heads, 1, member_.index(), member_.count());
        for (int64_t h = own.begin; h < own.end;) {
          const int64_t kv_head = h / group;
          const int64_t end = std::min(own.end, (kv_head + 1) * group);
          attend_to(block, segment, kv_head, h, end - h, 0, 1, first_row);
          h = end;
        }
      } else {
        const int64_t blocks = (count + attention_tokens - 1) / attention_tokens;
        const int64_t units = blocks * block.kv_heads;
        for (; unit < base + units; unit = member_.take()) {
          const int64_t index = units - 1 - (unit - base);  // the last tokens see most and go first
          const int64_t begin = index / block.kv_heads * attention_tokens;
          const int64_t kv_head = index % block.kv_heads;
          attend_to(block, segment, kv_head, kv_head * group, group, begin, std::min(attention_tokens, count - begin),
                    first_row);
        }
        base += units;
      }
      first_row += count;
    }
  }

  void attend_to(const Block& block, const Segment& segment, int64_t kv_head, int64_t head, int64_t heads,
                 int64_t begin, int64_t count, int64_t first_row) {
    const int64_t stride = block.heads * block.head_dim;
    const int64_t place = (first_row + begin) * stride + head * block.head_dim;
    const int64_t position = segment.position + begin;
    const void** keys = model_.scratch_.at<const void*>(desk_.key_pages);
    const void** values = model_.scratch_.at<const void*>(desk_.value_pages);
    for (int64_t i = 0; i <= (position + count - 1) / page_tokens; ++i) {
      keys[i] = page_of(block, segment.pages[static_cast<size_t>(i)], kv_head, false);
      values[i] = page_of(block, segment.pages[static_cast<size_t>(i)], kv_head, true);
    }
    const kernel::AttentionRun run{scratch(program_.query) + place,
                                   stride,
                                   scratch(program_.attended) + place,
                                   stride,
                                   keys,
                                   values,
                                   page_tokens,
                                   block.head_dim,
                                   heads,
                                   count,
                                   position,
                                   block.window,
                                   block.scale,
                                   scratch(desk_.kernel)};
    program_.attention->run(run);
  }

  // x += matrix * source, the product normalised first where `norm` is there. Ends the stage.
  void add_product(const Matrix& matrix, const float* source, const Vector& norm) {
    prepare(source, tokens_, nullptr, {&matrix});
    float* sum = scratch(program_.sum);
    float* x = scratch(program_.x);
    share(matrix.rows, matrix.kernel->row_granule, [&](Range rows) {
      multiply(matrix, tokens_, sum, rows);
      if (norm.source != nullptr) return;
      for (int64_t t = 0; t < tokens_; ++t) {
        program_.add(x + t * matrix.rows + rows.begin, sum + t * matrix.rows + rows.begin, rows.end - rows.begin);
      }
    });
    if (norm.source != nullptr) {
      member_.barrier();
      const Range own = part(tokens_, 1, member_.index(), member_.count());
      for (int64_t t = own.begin; t < own.end; ++t) {
        float* row = sum + t * matrix.rows;
        program_.rms_norm(row, weights(norm), row, matrix.rows, program_.description.norm_epsilon);
        program_.add(x + t * matrix.rows, row, matrix.rows);
      }
    }
    // One member decides for all, before the barrier that shows it to all.
    if (member_.index() == 0 && stop_.load(std::memory_order_relaxed))
      model_.stopped_.store(true, std::memory_order_relaxed);
    member_.barrier();
  }

  void feed_forward(const Block& block) {
    prepare(scratch(program_.x), tokens_, &block.feed_forward_norm, {&block.gate, &block.up});
    float* gate = scratch(program_.gate);
    float* up = scratch(program_.up);
    const int64_t width = block.gate.rows;
    const int64_t granule = std::lcm(block.gate.kernel->row_granule, block.up.kernel->row_granule);
    share(width, granule, [&](Range rows) {
      multiply(block.gate, tokens_, gate, rows);
      multiply(block.up, tokens_, up, rows);
      for (int64_t t = 0; t < tokens_; ++t) {
        const int64_t at = t * width + rows.begin;
        block.activate(gate + at, up + at, gate + at, rows.end - rows.begin);
      }
    });
    member_.barrier();
    add_product(block.down, gate, block.feed_forward_output_norm);
  }

  void head() {
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

  struct Form {
    const kernel::Matmul* kernel;
    void* place;
  };

  CpuModel& model_;
  const Program& program_;
  std::span<const Segment> segments_;
  const std::atomic<bool>& stop_;
  Team::Member& member_;
  const Desk& desk_;
  const int64_t tokens_;
  Form forms_[3] = {};
  int form_count_ = 0;
};

bool CpuModel::forward(std::span<const Segment> segments, const std::atomic<bool>& stop) {
  rows_.clear();
  logit_rows_.clear();
  for (const Segment& segment : segments) {
    for (size_t i = 0; i < segment.tokens.size(); ++i) {
      if (static_cast<int64_t>(i) >= segment.logits_from) logit_rows_.push_back(static_cast<int64_t>(rows_.size()));
      rows_.push_back({segment.tokens[i], segment.position + static_cast<int64_t>(i), &segment});
    }
  }
  stopped_.store(false, std::memory_order_relaxed);
  team_.run([&](Team::Member& member) { Pass(*this, segments, stop, member).run(); });
  return !stopped_.load(std::memory_order_relaxed);
}

}  // namespace halogen::backend::cpu
