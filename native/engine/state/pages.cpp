#include "native/engine/state/pages.h"

#include <algorithm>

namespace halogen::state {

Pages::Pages(uint32_t count, int64_t page_tokens)
    : page_tokens_(static_cast<size_t>(page_tokens)), references_(count, 0) {
  for (uint32_t page = count; page > 0; --page) free_.push_back(page - 1);
}

Pages::Start Pages::begin(std::span<const int32_t> tokens, size_t most_reused) {
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
    return {source, std::nullopt};
  }

  Sequence next;
  next.active = true;
  next.last_used = ++clock_;
  std::optional<Start::Copy> copy;
  if (source != nullptr) {
    source->last_used = clock_;
    const size_t whole_pages = shared / page_tokens_;
    next.pages.assign(source->pages.begin(), source->pages.begin() + static_cast<std::ptrdiff_t>(whole_pages));
    for (const uint32_t page : next.pages) ++references_[page];
    if (shared % page_tokens_ != 0) {
      if (const std::optional<uint32_t> page = take(source)) {
        copy = Start::Copy{source->pages[whole_pages], *page};
        next.pages.push_back(*page);
      } else {
        shared = whole_pages * page_tokens_;
      }
    }
    next.tokens.assign(tokens.begin(), tokens.begin() + static_cast<std::ptrdiff_t>(shared));
  }
  sequences_.push_back(std::move(next));
  return {&sequences_.back(), copy};
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

void Pages::end(Sequence& sequence) {
  sequence.active = false;
  sequence.last_used = ++clock_;
  const size_t needed = (sequence.tokens.size() + page_tokens_ - 1) / page_tokens_;
  std::vector<uint32_t> surplus(
      sequence.pages.begin() + static_cast<std::ptrdiff_t>(std::min(needed, sequence.pages.size())),
      sequence.pages.end());
  sequence.pages.resize(sequence.pages.size() - surplus.size());
  release(surplus);
  if (sequence.tokens.empty()) std::erase_if(sequences_, [&](const Sequence& each) { return &each == &sequence; });
}

std::optional<uint32_t> Pages::take(const Sequence* keep) {
  while (free_.empty()) {
    Sequence* oldest = nullptr;
    for (Sequence& sequence : sequences_) {
      if (sequence.active || &sequence == keep) continue;
      if (oldest == nullptr || sequence.last_used < oldest->last_used) oldest = &sequence;
    }
    if (oldest == nullptr) return std::nullopt;
    release(oldest->pages);
    std::erase_if(sequences_, [&](const Sequence& each) { return &each == oldest; });
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
