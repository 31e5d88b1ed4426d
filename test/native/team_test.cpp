#include "native/backend/cpu/team.h"

#include <algorithm>

#include "test/native/check.h"

using namespace halogen::test;
using halogen::backend::cpu::Team;

TEST(team_barriers_show_everyone_everything) {
  for (const int count : {1, 2, 3, 5}) {
    Team team(count, {});
    std::vector<int> values(static_cast<size_t>(count), 0);
    bool wrong = false;
    for (int run = 0; run < 50; ++run) {
      team.run([&](Team::Member& member) {
        for (int i = 0; i < 40; ++i) {
          values[static_cast<size_t>(member.index())] = run * 100 + i;
          member.barrier();
          const bool all = std::ranges::all_of(values, [&](int value) { return value == run * 100 + i; });
          if (member.index() == 0 && !all) wrong = true;
          member.barrier();
        }
      });
    }
    CHECK(!wrong);
  }
}

TEST(team_items_are_taken_once_per_stage) {
  Team team(3, {});
  constexpr int stages = 30, items = 100;
  std::vector<std::atomic<int>> taken(stages * items);
  for (int run = 0; run < 20; ++run) {
    team.run([&](Team::Member& member) {
      for (int stage = 0; stage < stages; ++stage) {
        for (int64_t item = member.take(); item < items; item = member.take())
          taken[static_cast<size_t>(stage * items + item)].fetch_add(1);
        member.barrier();
      }
    });
  }
  for (const auto& count : taken) EQUAL(count.load(), 20);
}

TEST(team_ends_when_idle_and_pinned) {
  for (int i = 0; i < 20; ++i) Team team(4, {0});
  Team idle(2, {});
  int sum = 0;
  idle.run([&](Team::Member& member) {
    if (member.index() == 1) sum = 1;
  });
  EQUAL(sum, 1);
}
