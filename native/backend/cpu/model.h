// A model loaded on the CPU backend.
#pragma once
#include <vector>

#include "native/backend/cpu/program.h"
#include "native/backend/cpu/team.h"

namespace halogen::backend::cpu {

class CpuModel : public Model {
 public:
  // `program` must have been built with `kernels` that outlive it.
  CpuModel(Program program, std::vector<int> cores);

  // Fills the weights. Throws request.cancelled.
  void load(const gguf::File& file, const ProgressCallback& on_progress, const std::atomic<bool>& cancel);

  const Pools& allocated() const override { return allocated_; }
  int64_t page_tokens() const override { return cpu::page_tokens; }
  std::span<const PageGroup> page_groups() const override { return program_.groups; }
  int64_t vocabulary() const override { return program_.description.vocabulary; }
  int64_t most_tokens() const override { return program_.chunk; }
  int64_t most_logits() const override { return most_logit_rows; }
  bool forward(std::span<const Segment> segments, const std::atomic<bool>& stop) override;
  const float* logits(int64_t row) const override;
  void copy_page(size_t group, uint32_t from, uint32_t to) override;
  uint32_t slot_count() const override { return program_.slots; }
  uint64_t slot_bytes() const override { return program_.slot_bytes; }
  void copy_slot(uint32_t from, uint32_t to) override;
  void clear_slot(uint32_t slot) override;

 private:
  friend class Pass;
  struct Row {
    int32_t token;
    int64_t position;
    const Segment* segment;
  };

  void load_rotations();
  kernel::Rotation rotation(int index) const;

  // Where an embedding's rows are in its file.
  struct Lookup {
    const Embedding* embedding;
    std::shared_ptr<const gguf::Reader> reader;
    uint64_t offset;
  };

  // Throws internal where a page that the segment writes or sees is not there.
  void check_pages(const Segment& segment) const;
  // Rows of the pass's tokens from the file to the scratch. Throws file.unreadable.
  void look_up() const;

  Program program_;
  Arena weights_;
  Arena kv_;
  Arena state_;
  Arena scratch_;
  Pools allocated_;
  std::vector<std::vector<double>> frequencies_;  // per rope table
  std::vector<Lookup> lookups_;
  std::vector<Row> rows_;
  std::vector<int64_t> logit_rows_;
  std::atomic<bool> stopped_{false};
  Team team_;
};

}  // namespace halogen::backend::cpu
