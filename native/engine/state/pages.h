// Which sequences' keys and values are in memory, in reference-counted pages. Pure bookkeeping: it never touches the
// memory.
#pragma once
#include <cstdint>
#include <list>
#include <optional>
#include <span>
#include <vector>

namespace halogen::state {

// A sequence's computed tokens and the pages that hold them. Full pages may be shared; the last, partial one never is.
struct Sequence {
  std::vector<int32_t> tokens;
  std::vector<uint32_t> pages;
  uint64_t last_used = 0;
  bool active = false;
};

class Pages {
 public:
  Pages(uint32_t count, int64_t page_tokens);

  struct Start {
    Sequence* sequence;  // active; its tokens are the reused prefix
    // The caller copies this page before it computes anything.
    struct Copy {
      uint32_t from, to;
    };
    std::optional<Copy> copy;
  };
  // A sequence that begins with the longest kept prefix of tokens[0 .. most_reused). What it was taken from stays kept.
  Start begin(std::span<const int32_t> tokens, size_t most_reused);
  // Makes room for `tokens` positions, forgetting the least recently used idle sequences. False: the rest is active.
  bool reserve(Sequence& sequence, size_t tokens);
  // The sequence becomes idle: kept until its pages are needed.
  void end(Sequence& sequence);

  uint32_t free_pages() const { return static_cast<uint32_t>(free_.size()); }
  size_t sequences() const { return sequences_.size(); }
  // Positions held for idle and active sequences, shared ones once.
  uint32_t used_pages() const { return static_cast<uint32_t>(references_.size() - free_.size()); }

 private:
  std::optional<uint32_t> take(const Sequence* keep);
  void release(std::vector<uint32_t>& pages);

  const size_t page_tokens_;
  std::vector<uint32_t> references_;
  std::vector<uint32_t> free_;
  std::list<Sequence> sequences_;
  uint64_t clock_ = 0;
};

}  // namespace halogen::state
