// Which sequences' keys and values are in memory, in reference-counted pages, and in which slots the state of recurrent
// layers stands. Pure bookkeeping: it never touches the memory.
//
// Without slots a sequence can be continued from any of its tokens. With them only from its end, where its state
// stands: so a checkpoint is an idle sequence of its own, and continuing one leaves it as it is where room allows.
#pragma once
#include <cstdint>
#include <list>
#include <optional>
#include <span>
#include <vector>

namespace halogen::state {

// A sequence's computed tokens and the pages that hold them. Full pages may be shared; the last, partial one has one
// sequence that writes to it, and idle ones may end within what is written.
struct Sequence {
  std::vector<int32_t> tokens;
  std::vector<uint32_t> pages;
  std::optional<uint32_t> slot;
  uint64_t last_used = 0;
  bool active = false;
};

class Pages {
 public:
  // `slots` 0: the model has no recurrent layers.
  Pages(uint32_t count, int64_t page_tokens, uint32_t slots = 0);

  // What the caller copies before it computes anything.
  struct Copy {
    uint32_t from, to;
  };
  struct Start {
    Sequence* sequence;  // active; its tokens are the reused prefix
    std::optional<Copy> copy;
    std::optional<Copy> slot_copy;
  };
  // A sequence that begins with the longest kept prefix of tokens[0 .. most_reused). What it was taken from stays kept
  // where there is room. Null, and nothing changed: every slot is of an active sequence. A slot that is not copied to
  // and has no tokens yet is the caller's to clear.
  Start begin(std::span<const int32_t> tokens, size_t most_reused);
  // A slot for the state of `sequence` at a position it is about to compute; none: not now. Then either keep() or
  // give_back().
  std::optional<uint32_t> checkpoint_slot(const Sequence& sequence);
  // The first `tokens` of an active sequence, as an idle one with that slot.
  void keep(const Sequence& sequence, size_t tokens, uint32_t slot);
  void give_back(uint32_t slot) { free_slots_.push_back(slot); }
  // Whether an idle sequence of exactly these tokens is there; it then counts as used now.
  bool kept(std::span<const int32_t> tokens);
  // Makes room for `tokens` positions, forgetting the least recently used idle sequences. False: the rest is active.
  bool reserve(Sequence& sequence, size_t tokens);
  // The sequence becomes idle: kept until its pages or its slot are needed.
  void end(Sequence& sequence);
  // The sequence is gone: its state is void.
  void drop(Sequence& sequence);

  uint32_t free_pages() const { return static_cast<uint32_t>(free_.size()); }
  size_t sequences() const { return sequences_.size(); }
  uint32_t used_slots() const { return slots_ - static_cast<uint32_t>(free_slots_.size()); }
  // Positions held for idle and active sequences, shared ones once.
  uint32_t used_pages() const { return static_cast<uint32_t>(references_.size() - free_.size()); }

 private:
  Start begin_from_end(std::span<const int32_t> tokens, size_t most_reused);
  Start continue_in_place(Sequence& source);
  Sequence fork(Sequence& source, size_t shared, std::optional<Copy>& copy);
  // Forgets the least recently used idle sequence but `keep`. False: there is none.
  bool forget_oldest(const Sequence* keep);
  std::optional<uint32_t> take(const Sequence* keep);
  std::optional<uint32_t> take_slot(const Sequence* keep);
  void release(std::vector<uint32_t>& pages);

  const size_t page_tokens_;
  std::vector<uint32_t> references_;
  std::vector<uint32_t> free_;
  const uint32_t slots_;
  std::vector<uint32_t> free_slots_;
  std::list<Sequence> sequences_;
  uint64_t clock_ = 0;
};

}  // namespace halogen::state
