// One forward pass, run by every member of the team at once. A stage ends at a barrier; within it, members write
// disjoint rows.
#pragma once
#include <algorithm>

#include "native/backend/cpu/model.h"

namespace halogen::backend::cpu {

struct Range {
  int64_t begin, end;
};

// Part `index` of `count` equal parts of [0, total) in whole granules.
inline Range part(int64_t total, int64_t granule, int64_t index, int64_t count) {
  const int64_t granules = (total + granule - 1) / granule;
  return {std::min(total, granules * index / count * granule),
          std::min(total, granules * (index + 1) / count * granule)};
}

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

  void run();

 private:
  using Users = std::initializer_list<const Matrix*>;

  struct Form {
    const Matrix* user;
    void* place;
  };

  struct Ending {
    const Vector& norm;
    const Block* apart = nullptr;  // whose experts' sum joins the product first
    float scale = 1;
  };

  struct Projection {
    const Matrix* matrix;
    float* out;
    int64_t stride;  // of out, floats
  };

  template <typename T = float>
  T* scratch(uint64_t offset) const {
    return model_.scratch_.at<T>(offset);
  }
  const float* weights(const Vector& vector) const {
    return vector.source != nullptr ? model_.weights_.at<const float>(vector.offset) : nullptr;
  }
  // Of token t, as the file has it.
  const void* row_of(const Embedding& embedding, int64_t t) const {
    if (embedding.offset == nowhere) {
      return scratch<const void>(embedding.read + static_cast<uint64_t>(t) * embedding.stride);
    }
    const auto token = static_cast<uint64_t>(model_.rows_[static_cast<size_t>(t)].token);
    return model_.weights_.at<const void>(embedding.offset + token * embedding.row_bytes);
  }
  bool alone() const { return tokens_ <= redundant_tokens; }
  Range own_part(int64_t total, int64_t granule = 1) const {
    return part(total, granule, member_.index(), member_.count());
  }

  // Embeddings and the angles of every position.
  void begin();
  // Source rows (normalised first, where `norm` is given) in the form each user's kernel takes; users whose kernels
  // share a form share the result. Users after the first may have no rows. Ends with a barrier unless every member
  // works for itself.
  void prepare(const float* source, int64_t rows, const Vector* norm, Users users);
  // The same for rows `range` alone, without norm and barrier. `own`: into this member's scratch.
  void form(const float* source, int64_t rows, Range range, Users users, bool own);
  const void* form_of(const Matrix& matrix) const;
  // out[rows][matrix.rows], columns `range` of it, from the form last prepared.
  void multiply(const Matrix& matrix, int64_t rows, float* out, Range range) {
    multiply({&matrix, out, matrix.rows}, rows, range);
  }
  void multiply(const Projection& projection, int64_t rows, Range range);
  // This member's share of several products of the prepared form.
  void multiply_all(std::span<const Projection> projections);
  // x = (x + norm(matrix * norm(source))) * scale, with the norms that are there. Ends the stage.
  void add_product(const Matrix& matrix, const float* source, const Vector& source_norm, const Ending& ending);
  // x += the layer's own view of each token.
  void token_input(const Block& block, size_t layer);
  // Those of all layers.
  void token_inputs();
  void normalise(float* row, const Vector& norm) const;
  void end_stage();
  void head();

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

  void attention(const Block& block);
  std::array<Projection, 4> projections(const Block& block) const;
  // Heads [begin, end) of the query, then key, then value heads, then the queries' gates: product, norm, rope, and the
  // store into pages.
  void project(const Block& block, int64_t begin, int64_t end);
  void grow(const Block& block, int64_t t, Range heads, float* queries) const;
  void value_from_key(const Block& block, int64_t t, Range heads, const float* keys);
  void normalise_values(const Block& block, Range heads, float* first);
  void store(const Block& block, int64_t t, Range heads, const float* first, bool values);
  uint8_t* page_of(const Block& block, uint32_t page, int64_t kv_head, bool values) const;
  void attend(const Block& block);
  // Pages first_page + i * pages and on of the keys that a single token sees, for i < count.
  struct Parts {
    int64_t first_page = 0, pages = 0, count = 1;
  };
  Parts parts_of(const Block& block) const;
  void attend_in_parts(const Block& block, const Parts& parts);
  kernel::AttentionRun run_of(const Block& block, const Segment& segment, int64_t kv_head, int64_t head, int64_t heads,
                              int64_t begin, int64_t count, int64_t first_row) const;
  void gate_attended(const Block& block, int64_t place, int64_t heads, int64_t count);
  void attend_to(const Block& block, const Segment& segment, int64_t kv_head, int64_t head, int64_t heads,
                 int64_t begin, int64_t count, int64_t first_row);

  void delta_net(const Block& block);
  // One key head and the value heads that read it, over the tokens of every segment.
  void delta_heads(const DeltaNet& mixer, int64_t key_head);
  void delta_piece(const DeltaNet& mixer, int64_t key_head, uint8_t* slot, Range tokens);
  void copy_delta(const DeltaNet& mixer, int64_t key_head, const uint8_t* from, uint8_t* to) const;

  void feed_forward(const Block& block, float scale);
  // Activated gate times up, columns `rows` of it.
  void feed_rows(const Block& block, Range rows);
  // x += what the chosen experts of each token make of it; leaves the normalised x for a feed-forward beside them.
  // Experts apart leave their sum in Program::apart instead.
  void experts(const Block& block);
  // The experts of token t, best first, and the weight of each.
  void choose(const Block& block, int64_t t, int32_t* experts, float* shares);
  // One token: every member computes some rows of each expert.
  void experts_of_one(const Block& block);
  // Several: the tokens of one expert go through it together, a piece of them at a time.
  void experts_of_many(const Block& block);
  void expert_piece(const Block& block, const Expert& expert, const int32_t* slots, int64_t count, float* out);

  CpuModel& model_;
  const Program& program_;
  std::span<const Segment> segments_;
  const std::atomic<bool>& stop_;
  Team::Member& member_;
  const Desk& desk_;
  const int64_t tokens_;
  Form forms_[most_forms] = {};
  int form_count_ = 0;
};

}  // namespace halogen::backend::cpu
