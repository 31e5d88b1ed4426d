// What tests of the pages' bookkeeping share: token sequences with common prefixes, and pages without windows.
#pragma once
#include <vector>

#include "native/engine/state/pages.h"

namespace halogen::test {

inline std::vector<int32_t> count_up(int32_t begin, int32_t end) {
  std::vector<int32_t> tokens;
  for (int32_t i = begin; i < end; ++i) tokens.push_back(i);
  return tokens;
}

inline state::Pages whole_pages(uint32_t count, int64_t page_tokens, uint32_t slots = 0) {
  const backend::PageGroup group{.pages = count};
  return state::Pages({&group, 1}, page_tokens, slots);
}

}  // namespace halogen::test
