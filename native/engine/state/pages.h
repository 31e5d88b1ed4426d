// Which sequences' keys and values are in memory, in reference-counted pages, and in which slots the state of recurrent
// layers stands. Pure bookkeeping: it never touches the memory.
//
// Layers that see everything and those with a window have pages of their own. Where a window has gone by, pages are let
// go when others need them, and a sequence can be continued from every position whose window is still held: always from
// its end, and from what is marked until room is short.
//
// Without slots a sequence can be continued from any such token. With them only from its end, where its state
// stands: so a checkpoint is an idle sequence of its own, and continuing one leaves it as it is where room allows.
#pragma once
#include <cstdint>
#include <list>
#include <optional>
#include <span>
#include <vector>

#include "native/backend/backend.h"
#include "native/engine/state/page_pool.h"

namespace halogen::state {

using backend::no_page;

// Positions first .. last, from which the sequence may be wanted again: their windows are kept while room allows.
struct Mark {
  size_t first = 0, last = 0;
  uint64_t used = 0;
};

// A sequence's computed tokens and the pages that hold them. Full pages may be shared; the last, partial one has one
// sequence that writes to it, and idle ones may end within what is written.
struct Sequence {
  std::vector<int32_t> tokens;
  std::vector<std::vector<uint32_t>> pages;  // of each group, in order of positions; no_page: let go
  std::vector<Mark> marks;
  std::optional<uint32_t> slot;
  uint64_t last_used = 0;
  bool active = false;
};

class Pages {
 public:
  // `slots` 0: the model has no recurrent layers.
  Pages(std::span<const backend::PageGroup> groups, int64_t page_tokens, uint32_t slots = 0);

  // What the caller copies, in this order, before it computes anything.
  struct Copy {
    size_t group;
    uint32_t from, to;
  };
  struct SlotCopy {
    uint32_t from, to;
  };
  struct Start {
    Sequence* sequence = nullptr;  // active; its tokens are the reused prefix
    std::vector<Copy> copies;
    std::optional<SlotCopy> slot_copy;
  };
  // A sequence that begins with the longest kept prefix of tokens[0 .. most_reused). What it was taken from stays kept
  // where there is room. Null, and nothing changed: every slot is of an active sequence. A slot that is not copied to
  // and has no tokens yet is the caller's to clear.
  Start begin(std::span<const int32_t> tokens, size_t most_reused);
  // Keeps the windows of positions first .. last, computed or not, until others are used later. Nothing, without
  // windows.
  void mark(Sequence& sequence, size_t first, size_t last);
  // A slot for the state of `sequence` at a position it is about to compute; none: not now. Then either keep() or
  // give_back().
  std::optional<uint32_t> checkpoint_slot(const Sequence& sequence);
  // The first `tokens` of an active sequence, as an idle one with that slot.
  void keep(const Sequence& sequence, size_t tokens, uint32_t slot);
  void give_back(uint32_t slot) { free_slots_.push_back(slot); }
  // Whether an idle sequence of exactly these tokens is there; it then counts as used now.
  bool kept(std::span<const int32_t> tokens);
  // Makes room for `tokens` positions, letting go what windows have left behind, then marks and idle sequences, least
  // recently used first. False: the rest is active. What the next token's windows see is never let go.
  bool reserve(Sequence& sequence, size_t tokens);
  // The sequence becomes idle: kept until its pages or its slot are needed.
  void end(Sequence& sequence);
  // The sequence is gone: its state is void.
  void drop(Sequence& sequence);

  size_t sequences() const { return sequences_.size(); }
  uint32_t used_slots() const { return slots_ - static_cast<uint32_t>(free_slots_.size()); }
  // Held for idle and active sequences, shared ones once.
  uint32_t used_pages(size_t group) const { return pools_[group].used(); }
  uint32_t free_pages(size_t group) const { return pools_[group].free(); }
  // The last position up to `length` from which the sequence can be continued.
  size_t reach(const Sequence& sequence, size_t length) const;

 private:
  // The first page that a token at `position` sees.
  size_t first_page(size_t group, size_t position) const;
  size_t pages_for(size_t tokens) const { return (tokens + page_tokens_ - 1) / page_tokens_; }
  bool needed(const Sequence& sequence, size_t group, size_t index) const;
  Start begin_from_end(std::span<const int32_t> tokens, size_t most_reused);
  Start continue_in_place(Sequence& source);
  Sequence fork(Sequence& source, size_t shared, std::vector<Copy>& copies);
  // Of the pages of `source`, those that the tokens and marks of `to` need.
  void share(const Sequence& source, Sequence& to);
  bool let_go(size_t group);
  // Forgets the least recently used mark, where that may help, or idle sequence but `keep`. False: there is none.
  bool forget_oldest(const Sequence* keep, bool marks);
  std::optional<uint32_t> take(size_t group, const Sequence* keep);
  std::optional<uint32_t> take_slot(const Sequence* keep);
  void release(size_t group, std::vector<uint32_t>& pages, size_t from);

  const size_t page_tokens_;
  std::vector<size_t> windows_;  // of each group; 0: sees everything
  bool sliding_ = false;
  std::vector<PagePool> pools_;
  const uint32_t slots_;
  std::vector<uint32_t> free_slots_;
  std::list<Sequence> sequences_;
  uint64_t clock_ = 0;
};

}  // namespace halogen::state
