// Sequences whose recurrent state stands in slots.
#include "native/engine/state/pages.h"
#include "test/native/check.h"
#include "test/native/maker.h"
#include "test/native/prefix.h"

using namespace halogen::test;
using halogen::state::Pages;
using halogen::state::Sequence;

namespace {

// Computes all tokens and keeps the state at `checkpoint`. Returns what was reused.
size_t serve(Pages& pages, const std::vector<int32_t>& tokens, size_t checkpoint = 0) {
  const Pages::Start start = pages.begin(tokens, tokens.size() - 1);
  const size_t reused = start.sequence->tokens.size();
  CHECK(pages.reserve(*start.sequence, tokens.size()));
  start.sequence->tokens = tokens;
  if (checkpoint > reused) pages.keep(*start.sequence, checkpoint, *pages.checkpoint_slot(*start.sequence));
  pages.end(*start.sequence);
  return reused;
}

}  // namespace

TEST(slots_continue_only_from_an_end) {
  Pages pages = whole_pages(32, 4, 5);
  EQUAL(serve(pages, count_up(0, 10), 7), 0u);
  EQUAL(serve(pages, count_up(0, 20)), 10u);
  EQUAL(serve(pages, count_up(0, 20)), 10u);  // the last token is computed again, and 19 is nobody's end
  EQUAL(pages.sequences(), 3u);               // 7, 10 and 20: what was continued stays, what came twice is one
  EQUAL(pages.used_slots(), 3u);
  std::vector<int32_t> fork = count_up(0, 9);
  fork.push_back(99);
  EQUAL(serve(pages, fork), 7u);
  EQUAL(serve(pages, count_up(0, 7)), 0u);
}

TEST(slots_forget_the_least_recently_used_and_starve_when_all_run) {
  Pages pages = whole_pages(32, 4, 2);
  serve(pages, count_up(0, 8));
  serve(pages, count_up(100, 108));
  serve(pages, count_up(200, 208));
  EQUAL(pages.sequences(), 2u);
  EQUAL(serve(pages, count_up(0, 9)), 0u);
  const Pages::Start first = pages.begin(count_up(0, 12), 11);
  const Pages::Start second = pages.begin(count_up(50, 60), 9);
  CHECK(first.sequence != nullptr && second.sequence != nullptr);
  CHECK(pages.begin(count_up(70, 80), 9).sequence == nullptr);
  CHECK(!pages.checkpoint_slot(*first.sequence).has_value());
  pages.drop(*second.sequence);
  CHECK(pages.begin(count_up(70, 80), 9).sequence != nullptr);
}

TEST(slots_with_room_for_one_state_go_on_in_place) {
  Pages pages = whole_pages(32, 4, 1);
  serve(pages, count_up(0, 6));
  const Pages::Start start = pages.begin(count_up(0, 9), 8);
  EQUAL(start.sequence->tokens.size(), 6u);
  CHECK(!start.slot_copy.has_value() && start.copies.empty());
  EQUAL(pages.sequences(), 1u);
}

TEST(slots_hold_what_was_written_through_any_history) {
  // Memory is simulated: each place of a page and each slot holds the hash of the prefix up to it. A sequence must
  // always read its own, whoever else was kept, forked, dropped or forgotten.
  constexpr uint32_t count = 14, slots = 5;
  constexpr size_t size = 4;
  constexpr uint64_t seed = 14695981039346656037u;
  Pages pages = whole_pages(count, size, slots);
  std::vector<uint64_t> memory(count * size, 0), states(slots, 0);
  Random random(6);
  std::vector<std::pair<Sequence*, std::vector<int32_t>>> active;
  size_t reused = 0, refused = 0;
  for (int round = 0; round < 30000; ++round) {
    if (active.size() < 5 && random.below(2) == 0) {
      std::vector<int32_t> tokens;
      const size_t length = 1 + random.below(30);
      for (size_t i = 0; i < length; ++i)
        tokens.push_back(static_cast<int32_t>(random.below(40) == 0 ? random.below(3) : i));
      const Pages::Start start = pages.begin(tokens, tokens.size() - 1);
      if (start.sequence == nullptr) {
        ++refused;
        continue;
      }
      if (!start.copies.empty())
        std::copy_n(memory.begin() + start.copies[0].from * size, size, memory.begin() + start.copies[0].to * size);
      if (start.slot_copy) {
        states[start.slot_copy->to] = states[start.slot_copy->from];
      } else if (start.sequence->tokens.empty()) {
        states[*start.sequence->slot] = seed;
      }
      reused += start.sequence->tokens.size();
      active.emplace_back(start.sequence, tokens);
    } else if (!active.empty()) {
      const size_t which = random.below(active.size());
      auto& [sequence, tokens] = active[which];
      const size_t done = sequence->tokens.size();
      const size_t step = std::min(tokens.size() - done, 1 + random.below(6));
      const bool room = pages.reserve(*sequence, done + step);
      const size_t end = done + (room ? step : 0);
      const size_t kept_at = done + 1 + random.below(6);
      std::optional<uint32_t> kept;
      if (room && kept_at <= end) kept = pages.checkpoint_slot(*sequence);
      uint64_t value = seed;
      for (size_t i = 0; i < end; ++i) {
        if (i == done) EQUAL(states[*sequence->slot], value);
        value = (value ^ static_cast<uint64_t>(tokens[i] + 1)) * 0x100000001b3u;
        uint64_t& place = memory[sequence->pages[0][i / size] * size + i % size];
        if (i >= done) place = value;
        EQUAL(place, value);
        if (kept && i + 1 == kept_at) states[*kept] = value;
      }
      states[*sequence->slot] = value;
      sequence->tokens.assign(tokens.begin(), tokens.begin() + static_cast<std::ptrdiff_t>(end));
      if (kept) pages.keep(*sequence, kept_at, *kept);
      if (room && random.below(20) == 0) {
        pages.drop(*sequence);  // a pass was stopped: its state is void
      } else if (!room || end == tokens.size()) {
        pages.end(*sequence);
      } else {
        continue;
      }
      active.erase(active.begin() + static_cast<std::ptrdiff_t>(which));
    }
    CHECK(pages.used_pages(0) <= count && pages.used_slots() <= slots);
    CHECK(pages.sequences() == pages.used_slots());
  }
  if (reused < 10000) fail("reused ", reused, ", refused ", refused);
  CHECK(refused > 0);
}
