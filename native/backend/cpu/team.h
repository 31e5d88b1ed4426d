// A team of threads that run one function together, with a barrier. The caller's thread is member 0.
#pragma once
#include <atomic>
#include <cstdint>
#include <thread>
#include <vector>

namespace halogen::backend::cpu {

class Team {
 public:
  // A member's view: who it is, and where all wait for each other. Work items of a stage may be shared out dynamically.
  class Member {
   public:
    int index() const { return index_; }
    int count() const { return team_.count_; }
    // Everything any member wrote before it is visible to all after it.
    void barrier();
    // The next item of the running stage, shared by all members; a barrier begins a new stage at 0.
    int64_t take() { return team_.tickets_[stage_ % 3].value.fetch_add(1, std::memory_order_relaxed); }

   private:
    friend class Team;
    Member(Team& team, int index) : team_(team), index_(index) {}
    Team& team_;
    int index_;
    uint64_t stage_ = 0;
  };

  // count >= 1 members. `cores`: where to pin member i (i modulo the size); empty: not pinned. Throws
  // engine.unavailable.
  Team(int count, std::vector<int> cores);
  ~Team();
  Team(const Team&) = delete;
  Team& operator=(const Team&) = delete;

  int count() const { return count_; }

  // Runs body(member) on every member and returns when all are done. Not reentrant; the body must not throw.
  template <typename Body>
  void run(Body&& body) {
    run_raw([](void* context, Member& member) { (*static_cast<Body*>(context))(member); }, &body);
  }

 private:
  using Call = void (*)(void* context, Member& member);
  struct alignas(64) Ticket {
    std::atomic<int64_t> value{0};
  };

  void run_raw(Call call, void* context);
  void work(int index);
  void stop();
  void arrive(Member& member);

  const int count_;
  const std::vector<int> cores_;
  Call call_ = nullptr;
  void* context_ = nullptr;
  alignas(64) std::atomic<int> round_{0};  // a change begins a run; -1 ends the threads
  alignas(64) std::atomic<int> sleepers_{0};
  alignas(64) std::atomic<int> arrived_{0};
  alignas(64) std::atomic<int> generation_{0};
  Ticket tickets_[3];
  std::vector<std::thread> threads_;
};

}  // namespace halogen::backend::cpu
