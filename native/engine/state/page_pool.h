// The pages of one group, reference-counted.
#pragma once
#include <cstdint>
#include <optional>
#include <vector>

namespace halogen::state {

class PagePool {
 public:
  explicit PagePool(uint32_t count) : references_(count, 0) {
    for (uint32_t page = count; page > 0; --page) free_.push_back(page - 1);
  }

  // Null: none is free.
  std::optional<uint32_t> take() {
    if (free_.empty()) return std::nullopt;
    const uint32_t page = free_.back();
    free_.pop_back();
    references_[page] = 1;
    return page;
  }
  void share(uint32_t page) { ++references_[page]; }
  void release(uint32_t page) {
    if (--references_[page] == 0) free_.push_back(page);
  }
  bool shared(uint32_t page) const { return references_[page] > 1; }

  uint32_t free() const { return static_cast<uint32_t>(free_.size()); }
  uint32_t used() const { return static_cast<uint32_t>(references_.size() - free_.size()); }

 private:
  std::vector<uint32_t> references_;
  std::vector<uint32_t> free_;
};

}  // namespace halogen::state
