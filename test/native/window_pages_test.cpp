// Pages of layers with a window beside those of layers that see everything.
#include <algorithm>
#include <array>

#include "native/engine/state/pages.h"
#include "test/native/check.h"
#include "test/native/maker.h"
#include "test/native/prefix.h"

using namespace halogen::test;
using halogen::backend::no_page;
using halogen::backend::PageGroup;
using halogen::state::Pages;
using halogen::state::Sequence;

namespace {

constexpr size_t page_size = 4;

Pages with_window(uint32_t whole, uint32_t sliding, int64_t window) {
  const std::array groups{PageGroup{.pages = whole}, PageGroup{.pages = sliding, .window = window}};
  return Pages(groups, page_size);
}

void compute(Pages& pages, Sequence& sequence, const std::vector<int32_t>& tokens, size_t step = 4) {
  while (sequence.tokens.size() < tokens.size()) {
    const size_t done = sequence.tokens.size(), next = std::min(tokens.size(), done + step);
    CHECK(pages.reserve(sequence, next));
    sequence.tokens.assign(tokens.begin(), tokens.begin() + static_cast<std::ptrdiff_t>(next));
  }
}

// Returns what was reused.
size_t serve(Pages& pages, const std::vector<int32_t>& tokens) {
  const Pages::Start start = pages.begin(tokens, tokens.size() - 1);
  const size_t reused = start.sequence->tokens.size();
  compute(pages, *start.sequence, tokens);
  pages.end(*start.sequence);
  return reused;
}

std::vector<int32_t> branch(int32_t from, int32_t length) {
  std::vector<int32_t> tokens = count_up(0, from);
  for (int32_t i = 0; i < length; ++i) tokens.push_back(1000 + i);
  return tokens;
}

size_t held(const Sequence& sequence, size_t group) {
  return static_cast<size_t>(
      std::ranges::count_if(sequence.pages[group], [](uint32_t page) { return page != no_page; }));
}

}  // namespace

TEST(window_pages_are_kept_while_there_is_room) {
  Pages pages = with_window(64, 8, 8);
  EQUAL(serve(pages, count_up(0, 28)), 0u);
  EQUAL(pages.used_pages(1), 7u);
  const Pages::Start start = pages.begin(branch(10, 4), 13);  // nothing was let go yet
  EQUAL(start.sequence->tokens.size(), 10u);
  EQUAL(start.copies.size(), 2u);  // the partial page of each group
  CHECK(start.copies[0].group == 0 && start.copies[1].group == 1);
}

TEST(window_pages_are_let_go_where_the_window_has_gone_by) {
  Pages pages = with_window(64, 8, 8);
  const Pages::Start start = pages.begin(count_up(0, 100), 99);
  compute(pages, *start.sequence, count_up(0, 100));
  EQUAL(held(*start.sequence, 0), 25u);
  EQUAL(start.sequence->pages[1].size(), 25u);
  EQUAL(held(*start.sequence, 1), 8u);
  for (size_t page = 17; page < 25; ++page) CHECK(start.sequence->pages[1][page] != no_page);
  pages.end(*start.sequence);
  // From 75 on the whole window of 8 is there (pages 17 and on hold positions 68 and on), before it none is.
  EQUAL(pages.reach(*start.sequence, 100), 100u);
  EQUAL(pages.reach(*start.sequence, 75), 75u);
  EQUAL(pages.reach(*start.sequence, 74), 0u);
  EQUAL(pages.begin(branch(74, 4), 77).sequence->tokens.size(), 0u);
  EQUAL(serve(pages, count_up(0, 104)), 100u);
}

TEST(window_pages_of_a_mark_are_kept) {
  Pages pages = with_window(64, 9, 8);
  const Pages::Start start = pages.begin(count_up(0, 100), 99);
  compute(pages, *start.sequence, count_up(0, 20));
  pages.mark(*start.sequence, 22, 24);  // not computed yet
  compute(pages, *start.sequence, count_up(0, 100));
  pages.end(*start.sequence);
  const Sequence& sequence = *start.sequence;
  for (const size_t page : {3, 4, 5}) CHECK(sequence.pages[1][page] != no_page);
  EQUAL(pages.reach(sequence, 18), 0u);
  EQUAL(pages.reach(sequence, 22), 22u);
  EQUAL(pages.reach(sequence, 24), 24u);
  EQUAL(pages.reach(sequence, 50), 24u);  // what is missing behind the mark is computed again
  EQUAL(serve(pages, branch(50, 3)), 24u);
  EQUAL(serve(pages, branch(23, 3)), 23u);
}

TEST(window_pages_of_marks_go_before_those_that_run) {
  Pages pages = with_window(64, 5, 8);
  const Pages::Start start = pages.begin(count_up(0, 100), 99);
  compute(pages, *start.sequence, count_up(0, 24));
  pages.mark(*start.sequence, 24, 24);
  compute(pages, *start.sequence, count_up(0, 60), 12);  // three pages to write and three that are seen
  EQUAL(pages.reach(*start.sequence, 24), 0u);
  EQUAL(pages.reach(*start.sequence, 60), 60u);
}

TEST(window_pages_of_marks_and_ends_go_least_recently_used_first) {
  Pages pages = with_window(128, 8, 8);
  const Pages::Start first = pages.begin(count_up(0, 60), 59);
  compute(pages, *first.sequence, count_up(0, 20));
  pages.mark(*first.sequence, 20, 20);
  compute(pages, *first.sequence, count_up(0, 60));
  pages.end(*first.sequence);
  std::vector<int32_t> other = count_up(500, 540);
  serve(pages, other);
  EQUAL(pages.used_pages(1), 8u);
  // A third needs what the mark of the first holds; its end stays.
  serve(pages, count_up(700, 740));
  EQUAL(pages.reach(*first.sequence, 60), 60u);
  EQUAL(pages.reach(*first.sequence, 20), 0u);
  EQUAL(serve(pages, count_up(0, 64)), 60u);
  other.push_back(1);
  EQUAL(serve(pages, other), 40u);
}

TEST(window_pages_of_a_fork_keep_the_marks_of_its_past) {
  Pages pages = with_window(64, 12, 8);
  const Pages::Start first = pages.begin(count_up(0, 60), 59);
  compute(pages, *first.sequence, count_up(0, 20));
  pages.mark(*first.sequence, 20, 20);
  compute(pages, *first.sequence, count_up(0, 60));
  pages.mark(*first.sequence, 60, 60);
  const Pages::Start fork = pages.begin(branch(60, 9), 68);  // of one that still runs
  EQUAL(fork.sequence->tokens.size(), 60u);
  CHECK(fork.copies.empty());
  pages.drop(*first.sequence);
  compute(pages, *fork.sequence, branch(60, 40));
  pages.end(*fork.sequence);
  EQUAL(serve(pages, branch(20, 9)), 20u);
}

TEST(window_pages_are_never_taken_from_what_runs) {
  Pages pages = with_window(64, 6, 8);
  const Pages::Start first = pages.begin(count_up(0, 60), 59);
  compute(pages, *first.sequence, count_up(0, 41));
  const Pages::Start second = pages.begin(count_up(500, 560), 59);
  CHECK(pages.reserve(*second.sequence, 12));
  second.sequence->tokens = count_up(500, 512);
  CHECK(!pages.reserve(*second.sequence, 24));
  EQUAL(pages.reach(*first.sequence, 41), 41u);
  EQUAL(pages.reach(*second.sequence, 12), 12u);
  pages.end(*second.sequence);
  CHECK(pages.reserve(*first.sequence, 53));  // the idle one makes room
  EQUAL(pages.sequences(), 1u);
}

TEST(window_pages_without_room_for_a_copy_go_on_from_whole_ones) {
  Pages pages = with_window(6, 6, 8);
  const Pages::Start first = pages.begin(count_up(0, 24), 23);
  compute(pages, *first.sequence, count_up(0, 22), 22);
  const Pages::Start fork = pages.begin(branch(21, 3), 23);
  EQUAL(fork.sequence->tokens.size(), 20u);
  CHECK(fork.copies.empty());
  EQUAL(fork.sequence->pages[0].size(), 5u);
  EQUAL(fork.sequence->pages[1].size(), 5u);
}

TEST(window_pages_beside_slots) {
  // No architecture has both today; nothing speaks against one.
  const std::array groups{PageGroup{.pages = 64}, PageGroup{.pages = 12, .window = 8}};
  Pages pages(groups, page_size, 4);
  const Pages::Start start = pages.begin(count_up(0, 60), 59);
  compute(pages, *start.sequence, count_up(0, 30));
  CHECK(pages.reserve(*start.sequence, 34));
  start.sequence->tokens = count_up(0, 34);
  pages.keep(*start.sequence, 33, *pages.checkpoint_slot(*start.sequence));
  compute(pages, *start.sequence, count_up(0, 60));
  pages.end(*start.sequence);
  const Pages::Start fork = pages.begin(branch(50, 9), 58);
  EQUAL(fork.sequence->tokens.size(), 33u);
  EQUAL(pages.reach(*fork.sequence, 33), 33u);
  EQUAL(fork.copies.size(), 2u);
  CHECK(fork.slot_copy.has_value());
}

TEST(window_pages_hold_what_was_written_through_any_history) {
  // Memory is simulated: each place of a page holds the hash of the prefix up to it. Whatever a token may see must be
  // there when it is computed, in every group, whoever else was marked, forked, dropped or forgotten.
  const std::array groups{PageGroup{.pages = 40}, PageGroup{.pages = 14, .window = 7},
                          PageGroup{.pages = 18, .window = 12}};
  const auto hash = [](uint64_t before, int32_t token) {
    return (before ^ static_cast<uint64_t>(token + 1)) * 0x100000001b3u;
  };
  Random random(8);
  size_t reused = 0, back = 0, holes = 0, refused = 0;
  for (int history = 0; history < 20; ++history) {
    Pages pages(groups, page_size);
    std::vector<std::vector<uint64_t>> memory;
    for (const PageGroup& group : groups) memory.emplace_back(group.pages * page_size, 0);
    std::vector<std::pair<Sequence*, std::vector<int32_t>>> active;
    std::vector<std::vector<int32_t>> texts;
    for (int round = 0; round < 3000; ++round) {
      if (active.size() < 3 && random.below(3) == 0) {
        std::vector<int32_t> tokens;
        if (!texts.empty() && random.below(5) > 0) {
          tokens = texts[texts.size() - 1 - random.below(std::min<size_t>(texts.size(), 4))];
          if (random.below(3) > 0) tokens.resize(1 + random.below(tokens.size()));
        }
        const size_t longer = 1 + random.below(30);
        for (size_t i = 0; i < longer; ++i) tokens.push_back(static_cast<int32_t>(random.below(50)));
        if (tokens.size() > 120) tokens.resize(1 + random.below(40));
        texts.push_back(tokens);
        const Pages::Start start = pages.begin(tokens, tokens.size() - 1);
        for (const Pages::Copy& copy : start.copies) {
          std::copy_n(memory[copy.group].begin() + copy.from * page_size, page_size,
                      memory[copy.group].begin() + copy.to * page_size);
        }
        const size_t begun = start.sequence->tokens.size();
        CHECK(begun < tokens.size() && std::equal(tokens.begin(), tokens.begin() + static_cast<std::ptrdiff_t>(begun),
                                                  start.sequence->tokens.begin()));
        reused += begun;
        back += begun > 0 && !start.copies.empty() ? 1 : 0;
        pages.mark(*start.sequence, begun, begun);
        if (random.below(2) == 0) {
          const size_t last = begun + random.below(tokens.size() - begun);
          pages.mark(*start.sequence, std::max(begun, last - std::min<size_t>(last, 3)), last);
        }
        active.emplace_back(start.sequence, tokens);
      } else if (!active.empty()) {
        const size_t which = random.below(active.size());
        auto& [sequence, tokens] = active[which];
        const size_t done = sequence->tokens.size();
        const size_t step = std::min(tokens.size() - done, 1 + random.below(9));
        const bool room = pages.reserve(*sequence, done + step);
        const size_t end = done + (room ? step : 0);
        std::vector<uint64_t> prefix{14695981039346656037u};
        for (size_t i = 0; i < end; ++i) prefix.push_back(hash(prefix.back(), tokens[i]));
        for (size_t group = 0; group < groups.size(); ++group) {
          const auto window = static_cast<size_t>(groups[group].window);
          const size_t first = window > 0 && done >= window ? done - window + 1 : 0;
          for (size_t i = first; i < end; ++i) {
            const uint32_t page = sequence->pages[group][i / page_size];
            CHECK(page < groups[group].pages);
            uint64_t& place = memory[group][page * page_size + i % page_size];
            if (i >= done) place = prefix[i + 1];
            EQUAL(place, prefix[i + 1]);
          }
          holes += static_cast<size_t>(std::ranges::count(sequence->pages[group], no_page));
        }
        CHECK(held(*sequence, 0) == sequence->pages[0].size());
        sequence->tokens.assign(tokens.begin(), tokens.begin() + static_cast<std::ptrdiff_t>(end));
        refused += room ? 0 : 1;
        if (random.below(60) == 0) {
          pages.drop(*sequence);
        } else if (!room || end == tokens.size()) {
          pages.end(*sequence);
        } else {
          continue;
        }
        active.erase(active.begin() + static_cast<std::ptrdiff_t>(which));
      }
    }
    for (auto& [sequence, tokens] : active) pages.drop(*sequence);
    // Nothing leaks: one that needs every page of the group without a window gets them all.
    const Pages::Start last = pages.begin(std::vector<int32_t>(161, 77), 0);
    compute(pages, *last.sequence, std::vector<int32_t>(160, 77));
    EQUAL(pages.used_pages(0), 40u);
    pages.drop(*last.sequence);
    EQUAL(pages.sequences(), 0u);
    for (size_t group = 0; group < groups.size(); ++group) EQUAL(pages.used_pages(group), 0u);
  }
  if (reused < 100000 || back < 1000 || holes < 10000 || refused < 30)
    fail("reused ", reused, ", back ", back, ", holes ", holes, ", refused ", refused);
}
