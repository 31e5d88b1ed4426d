#include "native/engine/state/pages.h"

#include <algorithm>

namespace halogen::state {

Pages::Pages(uint32_t count, int64_t page_tokens, uint32_t slots)
    : page_tokens_(static_cast<size_t>(page_tokens)), references_(count, 0), slots_(slots) {
  for (uint32_t page = count; page > 0; --page) free_.push_back(page - 1);
  for (uint32_t slot = slots; slot > 0; --slot) free_slots_.push_back(slot - 1);
}

Pages::Start Pages::begin(std::span<const int32_t> tokens, size_t most_reused) {
  if (slots_ > 0) return begin_from_end(tokens, most_reused);
  Sequence* source = nullptr;
  size_t shared = 0;
  for (Sequence& sequence : sequences_) {
    const size_t limit = std::min(most_reused, sequence.tokens.size());
    const auto [end, other] = std::mismatch(
        sequence.tokens.begin(), sequence.tokens.begin() + static_cast<std::ptrdiff_t>(limit), tokens.begin());
    const size_t length = static_cast<size_t>(end - sequence.tokens.begin());
    // Of equals, one that can be continued in place wins.
    const bool whole = length == sequence.tokens.size() && !sequence.active;
    if (length > shared || (length > 0 && length == shared && whole)) {
      source = &sequence;
      shared = length;
    }
  }
  if (source != nullptr && !source->active && shared == source->tokens.size()) {
    source->active = true;
    source->last_used = ++clock_;
    return {source, std::nullopt, std::nullopt};
  }

  std::optional<Copy> copy;
  Sequence next;
  if (source != nullptr) next = fork(*source, shared, copy);
  next.active = true;
  next.last_used = ++clock_;
  sequences_.push_back(std::move(next));
  return {&sequences_.back(), copy, std::nullopt};
}

Sequence Pages::fork(Sequence& source, size_t shared, std::optional<Copy>& copy) {
  Sequence next;
  source.last_used = ++clock_;
  const size_t whole_pages = shared / page_tokens_;
  next.pages.assign(source.pages.begin(), source.pages.begin() + static_cast<std::ptrdiff_t>(whole_pages));
  for (const uint32_t page : next.pages) ++references_[page];
  if (shared % page_tokens_ != 0) {
    if (const std::optional<uint32_t> page = take(&source)) {
      copy = Copy{source.pages[whole_pages], *page};
      next.pages.push_back(*page);
    } else {
      shared = whole_pages * page_tokens_;
    }
  }
  next.tokens.assign(source.tokens.begin(), source.tokens.begin() + static_cast<std::ptrdiff_t>(shared));
  return next;
}

Pages::Start Pages::begin_from_end(std::span<const int32_t> tokens, size_t most_reused) {
  Sequence* source = nullptr;
  for (Sequence& sequence : sequences_) {
    const size_t length = sequence.tokens.size();
    if (sequence.active || length > most_reused || (source != nullptr && length <= source->tokens.size())) continue;
    if (std::equal(sequence.tokens.begin(), sequence.tokens.end(), tokens.begin())) source = &sequence;
  }
  const std::optional<uint32_t> slot = take_slot(source);
  if (source == nullptr && !slot) return {nullptr, std::nullopt, std::nullopt};

  std::optional<Copy> copy;
  Sequence next;
  if (source != nullptr) {
    const size_t whole = source->tokens.size();
    if (slot) next = fork(*source, whole, copy);
    if (next.tokens.size() < whole) {
      // No room for both: the source itself goes on, in a partial page that no other may write to.
      if (slot) give_back(*slot);
      release(next.pages);
      return continue_in_place(*source);
    }
  }
  next.slot = slot;
  next.active = true;
  next.last_used = ++clock_;
  sequences_.push_back(std::move(next));
  const std::optional<Copy> slot_copy = source != nullptr ? std::optional(Copy{*source->slot, *slot}) : std::nullopt;
  return {&sequences_.back(), copy, slot_copy};
}

Pages::Start Pages::continue_in_place(Sequence& source) {
  std::optional<Copy> copy;
  const size_t whole_pages = source.tokens.size() / page_tokens_;
  if (whole_pages < source.pages.size() && references_[source.pages[whole_pages]] > 1) {
    const std::optional<uint32_t> page = take(&source);
    if (!page) return {nullptr, std::nullopt, std::nullopt};
    copy = Copy{source.pages[whole_pages], *page};
    --references_[source.pages[whole_pages]];
    source.pages[whole_pages] = *page;
  }
  source.active = true;
  source.last_used = ++clock_;
  return {&source, copy, std::nullopt};
}

std::optional<uint32_t> Pages::checkpoint_slot(const Sequence& sequence) {
  return slots_ > 0 ? take_slot(&sequence) : std::nullopt;
}

void Pages::keep(const Sequence& sequence, size_t tokens, uint32_t slot) {
  Sequence idle;
  idle.tokens.assign(sequence.tokens.begin(), sequence.tokens.begin() + static_cast<std::ptrdiff_t>(tokens));
  const size_t pages = (tokens + page_tokens_ - 1) / page_tokens_;
  idle.pages.assign(sequence.pages.begin(), sequence.pages.begin() + static_cast<std::ptrdiff_t>(pages));
  for (const uint32_t page : idle.pages) ++references_[page];
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
  while (sequence.pages.size() * page_tokens_ < tokens) {
    const std::optional<uint32_t> page = take(nullptr);
    if (!page) return false;
    sequence.pages.push_back(*page);
  }
  return true;
}

void Pages::drop(Sequence& sequence) {
  release(sequence.pages);
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
  const size_t needed = (sequence.tokens.size() + page_tokens_ - 1) / page_tokens_;
  std::vector<uint32_t> surplus(
      sequence.pages.begin() + static_cast<std::ptrdiff_t>(std::min(needed, sequence.pages.size())),
      sequence.pages.end());
  sequence.pages.resize(sequence.pages.size() - surplus.size());
  release(surplus);
}

bool Pages::forget_oldest(const Sequence* keep) {
  Sequence* oldest = nullptr;
  for (Sequence& sequence : sequences_) {
    if (sequence.active || &sequence == keep) continue;
    if (oldest == nullptr || sequence.last_used < oldest->last_used) oldest = &sequence;
  }
  if (oldest == nullptr) return false;
  drop(*oldest);
  return true;
}

std::optional<uint32_t> Pages::take_slot(const Sequence* keep) {
  while (free_slots_.empty()) {
    if (!forget_oldest(keep)) return std::nullopt;
  }
  const uint32_t slot = free_slots_.back();
  free_slots_.pop_back();
  return slot;
}

std::optional<uint32_t> Pages::take(const Sequence* keep) {
  while (free_.empty()) {
    if (!forget_oldest(keep)) return std::nullopt;
  }
  const uint32_t page = free_.back();
  free_.pop_back();
  references_[page] = 1;
  return page;
}

void Pages::release(std::vector<uint32_t>& pages) {
  for (const uint32_t page : pages) {
    if (--references_[page] == 0) free_.push_back(page);
  }
  pages.clear();
}

}  // namespace halogen::state
