#include "native/engine/state/pages.h"

#include <algorithm>

namespace halogen::state {
namespace {

// Of one sequence: the beginnings and ends of the last few turns.
constexpr size_t most_marks = 6;

}  // namespace

Pages::Pages(std::span<const backend::PageGroup> groups, int64_t page_tokens, uint32_t slots)
    : page_tokens_(static_cast<size_t>(page_tokens)), slots_(slots) {
  for (const backend::PageGroup& group : groups) {
    windows_.push_back(static_cast<size_t>(group.window));
    pools_.emplace_back(group.pages);
    if (group.window > 0) sliding_ = true;
  }
  for (uint32_t slot = slots; slot > 0; --slot) free_slots_.push_back(slot - 1);
}

size_t Pages::first_page(size_t group, size_t position) const {
  const size_t window = windows_[group];
  return window > 0 && position >= window ? (position - window + 1) / page_tokens_ : 0;
}

bool Pages::needed(const Sequence& sequence, size_t group, size_t index) const {
  if (index >= first_page(group, sequence.tokens.size())) return true;
  return std::ranges::any_of(sequence.marks, [&](const Mark& mark) {
    return index >= first_page(group, mark.first) && index < pages_for(mark.last);
  });
}

size_t Pages::reach(const Sequence& sequence, size_t length) const {
  for (size_t position = length; position > 0;) {
    size_t next = position;
    for (size_t group = 0; group < pools_.size(); ++group) {
      if (windows_[group] == 0) continue;
      // A hole is in the way of every position that sees it, and of those within it.
      for (size_t index = pages_for(position); index > first_page(group, position); --index) {
        if (sequence.pages[group][index - 1] != no_page) continue;
        next = std::min(next, (index - 1) * page_tokens_);
        break;
      }
    }
    if (next == position) return position;
    position = next;
  }
  return 0;
}

Pages::Start Pages::begin(std::span<const int32_t> tokens, size_t most_reused) {
  if (slots_ > 0) return begin_from_end(tokens, most_reused);
  Sequence* source = nullptr;
  size_t shared = 0;
  for (Sequence& sequence : sequences_) {
    const size_t limit = std::min(most_reused, sequence.tokens.size());
    const auto [end, other] = std::mismatch(
        sequence.tokens.begin(), sequence.tokens.begin() + static_cast<std::ptrdiff_t>(limit), tokens.begin());
    const size_t length = reach(sequence, static_cast<size_t>(end - sequence.tokens.begin()));
    // Of equals, one that can be continued in place wins.
    const bool whole = length == sequence.tokens.size() && !sequence.active;
    if (length > shared || (length > 0 && length == shared && whole)) {
      source = &sequence;
      shared = length;
    }
  }
  Start start;
  if (source != nullptr && !source->active && shared == source->tokens.size()) {
    start.sequence = source;
    source->active = true;
    source->last_used = ++clock_;
    return start;
  }

  Sequence next;
  if (source != nullptr) next = fork(*source, shared, start.copies);
  next.pages.resize(pools_.size());
  next.active = true;
  next.last_used = ++clock_;
  sequences_.push_back(std::move(next));
  start.sequence = &sequences_.back();
  return start;
}

Sequence Pages::fork(Sequence& source, size_t shared, std::vector<Copy>& copies) {
  Sequence next;
  source.last_used = ++clock_;
  for (Mark& mark : source.marks) {
    if (mark.first <= shared && shared <= mark.last) mark.used = clock_;
    if (mark.last <= shared) next.marks.push_back(mark);
  }
  next.tokens.assign(source.tokens.begin(), source.tokens.begin() + static_cast<std::ptrdiff_t>(shared));
  share(source, next);
  if (shared % page_tokens_ == 0) return next;
  // Until it is copied the last page is the fork's too, so that nobody lets it go meanwhile.
  for (size_t group = 0; group < pools_.size(); ++group) {
    const std::optional<uint32_t> page = take(group, &source);
    if (!page) break;
    copies.push_back({group, next.pages[group].back(), *page});
  }
  if (copies.size() == pools_.size()) {
    for (const Copy& copy : copies) {
      pools_[copy.group].release(copy.from);
      next.pages[copy.group].back() = copy.to;
    }
    return next;
  }
  for (const Copy& copy : copies) pools_[copy.group].release(copy.to);
  copies.clear();
  const size_t whole = reach(next, shared / page_tokens_ * page_tokens_);
  for (size_t group = 0; group < pools_.size(); ++group) release(group, next.pages[group], whole / page_tokens_);
  next.tokens.resize(whole);
  std::erase_if(next.marks, [&](const Mark& mark) { return mark.last > whole; });
  return next;
}

void Pages::share(const Sequence& source, Sequence& to) {
  const size_t count = pages_for(to.tokens.size());
  to.pages.resize(pools_.size());
  for (size_t group = 0; group < pools_.size(); ++group) {
    for (size_t index = 0; index < count; ++index) {
      const uint32_t page = needed(to, group, index) ? source.pages[group][index] : no_page;
      if (page != no_page) pools_[group].share(page);
      to.pages[group].push_back(page);
    }
  }
}

Pages::Start Pages::begin_from_end(std::span<const int32_t> tokens, size_t most_reused) {
  Sequence* source = nullptr;
  for (Sequence& sequence : sequences_) {
    const size_t length = sequence.tokens.size();
    if (sequence.active || length > most_reused || (source != nullptr && length <= source->tokens.size())) continue;
    if (std::equal(sequence.tokens.begin(), sequence.tokens.end(), tokens.begin())) source = &sequence;
  }
  const std::optional<uint32_t> slot = take_slot(source);
  if (source == nullptr && !slot) return {};

  Start start;
  Sequence next;
  if (source != nullptr) {
    const size_t whole = source->tokens.size();
    if (slot) next = fork(*source, whole, start.copies);
    if (next.tokens.size() < whole) {
      // No room for both: the source itself goes on, in a partial page that no other may write to.
      if (slot) give_back(*slot);
      for (size_t group = 0; group < next.pages.size(); ++group) release(group, next.pages[group], 0);
      return continue_in_place(*source);
    }
    start.slot_copy = SlotCopy{*source->slot, *slot};
  }
  next.pages.resize(pools_.size());
  next.slot = slot;
  next.active = true;
  next.last_used = ++clock_;
  sequences_.push_back(std::move(next));
  start.sequence = &sequences_.back();
  return start;
}

Pages::Start Pages::continue_in_place(Sequence& source) {
  Start start;
  const size_t whole_pages = source.tokens.size() / page_tokens_;
  for (size_t group = 0; group < pools_.size(); ++group) {
    if (whole_pages >= source.pages[group].size() || !pools_[group].shared(source.pages[group][whole_pages])) continue;
    const std::optional<uint32_t> page = take(group, &source);
    if (!page) {
      for (const Copy& copy : start.copies) pools_[copy.group].release(copy.to);
      return {};
    }
    start.copies.push_back({group, source.pages[group][whole_pages], *page});
  }
  for (const Copy& copy : start.copies) {
    pools_[copy.group].release(copy.from);
    source.pages[copy.group][whole_pages] = copy.to;
  }
  source.active = true;
  source.last_used = ++clock_;
  start.sequence = &source;
  return start;
}

void Pages::mark(Sequence& sequence, size_t first, size_t last) {
  if (!sliding_ || last == 0) return;
  ++clock_;
  for (Mark& mark : sequence.marks) {
    if (mark.first > first || last > mark.last) continue;
    mark.used = clock_;
    return;
  }
  if (sequence.marks.size() == most_marks) {
    sequence.marks.erase(std::ranges::min_element(sequence.marks, {}, &Mark::used));
  }
  sequence.marks.push_back({first, last, clock_});
}

std::optional<uint32_t> Pages::checkpoint_slot(const Sequence& sequence) {
  return slots_ > 0 ? take_slot(&sequence) : std::nullopt;
}

void Pages::keep(const Sequence& sequence, size_t tokens, uint32_t slot) {
  Sequence idle;
  idle.tokens.assign(sequence.tokens.begin(), sequence.tokens.begin() + static_cast<std::ptrdiff_t>(tokens));
  share(sequence, idle);
  idle.slot = slot;
  idle.last_used = ++clock_;
  sequences_.push_back(std::move(idle));
}

bool Pages::kept(std::span<const int32_t> tokens) {
  for (Sequence& sequence : sequences_) {
    if (sequence.active || !std::ranges::equal(sequence.tokens, tokens)) continue;
    sequence.last_used = ++clock_;
    return true;
  }
  return false;
}

bool Pages::reserve(Sequence& sequence, size_t tokens) {
  sequence.last_used = ++clock_;
  for (size_t group = 0; group < pools_.size(); ++group) {
    while (sequence.pages[group].size() < pages_for(tokens)) {
      const std::optional<uint32_t> page = take(group, nullptr);
      if (!page) return false;
      sequence.pages[group].push_back(*page);
    }
  }
  return true;
}

void Pages::drop(Sequence& sequence) {
  for (size_t group = 0; group < pools_.size(); ++group) release(group, sequence.pages[group], 0);
  if (sequence.slot) give_back(*sequence.slot);
  std::erase_if(sequences_, [&](const Sequence& each) { return &each == &sequence; });
}

void Pages::end(Sequence& sequence) {
  if (sequence.tokens.empty() || (sequence.slot && kept(sequence.tokens))) {
    drop(sequence);
    return;
  }
  sequence.active = false;
  sequence.last_used = ++clock_;
  for (size_t group = 0; group < pools_.size(); ++group) {
    release(group, sequence.pages[group], pages_for(sequence.tokens.size()));
  }
}

bool Pages::let_go(size_t group) {
  if (windows_[group] == 0) return false;
  Sequence* found = nullptr;
  size_t at = 0;
  bool frees = false;
  for (Sequence& sequence : sequences_) {
    const std::vector<uint32_t>& pages = sequence.pages[group];
    const size_t end = std::min(pages.size(), first_page(group, sequence.tokens.size()));
    for (size_t index = 0; index < end; ++index) {
      if (pages[index] == no_page || needed(sequence, group, index)) continue;
      // Of one that others hold too only the claim can be given up, which helps later if at all.
      const bool alone = !pools_[group].shared(pages[index]);
      if (found != nullptr && (frees > alone || (frees == alone && found->last_used <= sequence.last_used))) continue;
      found = &sequence;
      at = index;
      frees = alone;
      if (alone) break;
    }
  }
  if (found == nullptr) return false;
  pools_[group].release(found->pages[group][at]);
  found->pages[group][at] = no_page;
  return true;
}

bool Pages::forget_oldest(const Sequence* keep, bool marks) {
  Sequence* oldest = nullptr;
  Sequence* marked = nullptr;
  size_t mark = 0;
  for (Sequence& sequence : sequences_) {
    for (size_t i = 0; marks && i < sequence.marks.size(); ++i) {
      if (marked != nullptr && marked->marks[mark].used <= sequence.marks[i].used) continue;
      marked = &sequence;
      mark = i;
    }
    if (sequence.active || &sequence == keep) continue;
    if (oldest == nullptr || sequence.last_used < oldest->last_used) oldest = &sequence;
  }
  if (marked != nullptr && (oldest == nullptr || marked->marks[mark].used < oldest->last_used)) {
    marked->marks.erase(marked->marks.begin() + static_cast<std::ptrdiff_t>(mark));
    return true;
  }
  if (oldest == nullptr) return false;
  drop(*oldest);
  return true;
}

std::optional<uint32_t> Pages::take_slot(const Sequence* keep) {
  while (free_slots_.empty()) {
    if (!forget_oldest(keep, false)) return std::nullopt;
  }
  const uint32_t slot = free_slots_.back();
  free_slots_.pop_back();
  return slot;
}

std::optional<uint32_t> Pages::take(size_t group, const Sequence* keep) {
  while (true) {
    if (const std::optional<uint32_t> page = pools_[group].take()) return page;
    if (!let_go(group) && !forget_oldest(keep, windows_[group] > 0)) return std::nullopt;
  }
}

void Pages::release(size_t group, std::vector<uint32_t>& pages, size_t from) {
  for (size_t index = from; index < pages.size(); ++index) {
    if (pages[index] != no_page) pools_[group].release(pages[index]);
  }
  pages.resize(std::min(pages.size(), from));
}

}  // namespace halogen::state
