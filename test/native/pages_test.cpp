#include "native/engine/state/pages.h"

#include <map>

#include "test/native/check.h"
#include "test/native/maker.h"
#include "test/native/prefix.h"

using namespace halogen::test;
using halogen::state::Pages;
using halogen::state::Sequence;

namespace {

// What a scheduler does: begins, computes all tokens, ends. Returns what was reused.
size_t serve(Pages& pages, const std::vector<int32_t>& tokens) {
  const Pages::Start start = pages.begin(tokens, tokens.size() - 1);
  const size_t reused = start.sequence->tokens.size();
  CHECK(pages.reserve(*start.sequence, tokens.size()));
  start.sequence->tokens = tokens;
  pages.end(*start.sequence);
  return reused;
}

}  // namespace

TEST(pages_reuse_the_longest_prefix) {
  Pages pages = whole_pages(16, 4);
  EQUAL(serve(pages, count_up(0, 10)), 0u);
  EQUAL(serve(pages, count_up(0, 20)), 10u);  // continued in place
  EQUAL(pages.sequences(), 1u);
  EQUAL(serve(pages, count_up(0, 20)), 19u);  // the last token is always computed
  std::vector<int32_t> fork = count_up(0, 9);
  fork.push_back(99);
  EQUAL(serve(pages, fork), 9u);
  EQUAL(serve(pages, count_up(50, 60)), 0u);
}

TEST(pages_share_whole_pages_and_copy_the_partial_one) {
  Pages pages = whole_pages(16, 4);
  serve(pages, count_up(0, 12));
  EQUAL(pages.used_pages(0), 3u);
  std::vector<int32_t> fork = count_up(0, 10);
  fork.insert(fork.end(), {77, 78});
  const Pages::Start start = pages.begin(fork, fork.size() - 1);
  EQUAL(start.sequence->tokens.size(), 10u);
  EQUAL(pages.used_pages(0), 4u);  // two shared, one copied
  CHECK(!start.copies.empty());
  EQUAL(start.copies[0].to, start.sequence->pages[0][2]);
  CHECK(start.copies[0].from != start.copies[0].to);
  const Pages::Start other = pages.begin(count_up(0, 9), 8);  // a page boundary: nothing to copy
  EQUAL(other.sequence->tokens.size(), 8u);
  CHECK(other.copies.empty());
  EQUAL(other.sequence->pages[0][0], start.sequence->pages[0][0]);
}

TEST(pages_forget_the_least_recently_used) {
  Pages pages = whole_pages(6, 4);
  serve(pages, count_up(0, 8));
  serve(pages, count_up(100, 108));
  serve(pages, count_up(0, 9));  // makes the first the more recent
  serve(pages, count_up(200, 204));
  EQUAL(pages.free_pages(0), 0u);
  serve(pages, count_up(300, 308));  // needs two: the second goes
  EQUAL(serve(pages, count_up(0, 10)), 9u);
  EQUAL(serve(pages, count_up(100, 108)), 0u);
}

TEST(pages_of_active_sequences_are_safe) {
  Pages pages = whole_pages(4, 4);
  const Pages::Start first = pages.begin(count_up(0, 12), 11);
  CHECK(pages.reserve(*first.sequence, 12));
  const Pages::Start second = pages.begin(count_up(50, 60), 9);
  CHECK(!pages.reserve(*second.sequence, 10));
  pages.end(*second.sequence);
  CHECK(pages.reserve(*first.sequence, 16));
  first.sequence->tokens = count_up(0, 12);
  pages.end(*first.sequence);
  EQUAL(pages.used_pages(0), 3u);
}

TEST(pages_hold_what_was_written_through_any_history) {
  // The pages' contents are simulated: each slot holds the hash of the prefix up to it. A sequence must always read its
  // own.
  constexpr uint32_t count = 12;
  constexpr size_t size = 4;
  Pages pages = whole_pages(count, size);
  std::vector<uint64_t> memory(count * size, 0);
  Random random(5);
  const auto hash = [](uint64_t before, int32_t token) {
    return (before ^ static_cast<uint64_t>(token + 1)) * 0x100000001b3u;
  };
  std::vector<std::pair<Sequence*, std::vector<int32_t>>> active;
  size_t reused = 0;
  for (int round = 0; round < 20000; ++round) {
    if (active.size() < 3 && random.below(2) == 0) {
      std::vector<int32_t> tokens;
      const size_t length = 1 + random.below(30);
      for (size_t i = 0; i < length; ++i)
        tokens.push_back(static_cast<int32_t>(random.below(10) == 0 ? random.below(3) : i));
      const Pages::Start start = pages.begin(tokens, tokens.size() - 1);
      if (!start.copies.empty())
        std::copy_n(memory.begin() + start.copies[0].from * size, size, memory.begin() + start.copies[0].to * size);
      reused += start.sequence->tokens.size();
      active.emplace_back(start.sequence, tokens);
    } else if (!active.empty()) {
      const size_t which = random.below(active.size());
      auto& [sequence, tokens] = active[which];
      const size_t done = sequence->tokens.size();
      const size_t step = std::min(tokens.size() - done, 1 + random.below(6));
      const bool room = pages.reserve(*sequence, done + step);
      uint64_t value = 14695981039346656037u;
      for (size_t i = 0; i < done + (room ? step : 0); ++i) {
        value = hash(value, tokens[i]);
        uint64_t& slot = memory[sequence->pages[0][i / size] * size + i % size];
        if (i >= done) slot = value;
        EQUAL(slot, value);
      }
      if (room)
        sequence->tokens.insert(sequence->tokens.end(), tokens.begin() + static_cast<std::ptrdiff_t>(done),
                                tokens.begin() + static_cast<std::ptrdiff_t>(done + step));
      if (!room || sequence->tokens.size() == tokens.size()) {
        pages.end(*sequence);
        active.erase(active.begin() + static_cast<std::ptrdiff_t>(which));
      }
    }
    CHECK(pages.used_pages(0) <= count);
  }
  CHECK(reused > 10000);
}
