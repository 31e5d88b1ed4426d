#include "native/backend/cpu/team.h"

#include <string>
#include <system_error>

#include "native/engine/error.h"

#ifdef __linux__
#include <pthread.h>
#include <sched.h>
#endif
#if defined(__x86_64__) || defined(_M_X64)
#include <immintrin.h>
#endif

namespace halogen::backend::cpu {
namespace {

// Some microseconds of spinning cover a stage's uneven end; yielding covers the gap between two steps of a decode, and
// lets the member waited for run at once where there are more threads than cores.
constexpr int spins = 400;
constexpr int yields = 500;

void relax() {
#if defined(__x86_64__) || defined(_M_X64)
  _mm_pause();
#elif defined(__aarch64__)
  asm volatile("yield");
#endif
}

// Returns when value differs from `old`: spins, yields, then sleeps.
int wait_while(const std::atomic<int>& value, int old) {
  for (int i = 0; i < spins; ++i) {
    const int now = value.load(std::memory_order_acquire);
    if (now != old) return now;
    relax();
  }
  for (int i = 0; i < yields; ++i) {
    std::this_thread::yield();
    const int now = value.load(std::memory_order_acquire);
    if (now != old) return now;
  }
  int now = value.load(std::memory_order_acquire);
  while (now == old) {
    value.wait(old, std::memory_order_acquire);
    now = value.load(std::memory_order_acquire);
  }
  return now;
}

void pin(int core) {
#ifdef __linux__
  cpu_set_t set;
  CPU_ZERO(&set);
  CPU_SET(core, &set);
  // Refused pinning (a container's limits) costs speed, never correctness.
  (void)pthread_setaffinity_np(pthread_self(), sizeof set, &set);
#else
  (void)core;
#endif
}

}  // namespace

Team::Team(int count, std::vector<int> cores) : count_(count), cores_(std::move(cores)) {
  threads_.reserve(static_cast<size_t>(count - 1));
  try {
    for (int i = 1; i < count; ++i) threads_.emplace_back([this, i] { work(i); });
  } catch (const std::system_error& error) {
    stop();
    throw Error(
        code::engine_unavailable,
        "The system refused thread " + std::to_string(threads_.size() + 2) + " of " + std::to_string(count) + ".",
        "Choose fewer threads.", {{"threads", count}, {"errno", error.code().value()}});
  }
}

Team::~Team() {
  stop();
}

void Team::stop() {
  round_.store(-1, std::memory_order_release);
  round_.notify_all();
  for (std::thread& thread : threads_) thread.join();
}

void Team::Member::barrier() {
  team_.arrive(*this);
}

void Team::arrive(Member& member) {
  ++member.stage_;
  // Its last user was two stages ago; its next is one ahead, behind this barrier.
  if (member.index_ == 0) tickets_[(member.stage_ + 1) % 3].value.store(0, std::memory_order_relaxed);
  if (count_ == 1) return;
  const int generation = generation_.load(std::memory_order_relaxed);
  if (arrived_.fetch_add(1, std::memory_order_acq_rel) == count_ - 1) {
    arrived_.store(0, std::memory_order_relaxed);
    generation_.store(generation + 1, std::memory_order_release);
    generation_.notify_all();
  } else {
    wait_while(generation_, generation);
  }
}

void Team::run_raw(Call call, void* context) {
  call_ = call;
  context_ = context;
  for (Ticket& ticket : tickets_) ticket.value.store(0, std::memory_order_relaxed);
  round_.store((round_.load(std::memory_order_relaxed) + 1) & 0x3fffffff, std::memory_order_release);
  round_.notify_all();
  Member member(*this, 0);
  call(context, member);
  arrive(member);
}

void Team::work(int index) {
  if (!cores_.empty()) pin(cores_[static_cast<size_t>(index) % cores_.size()]);
  int round = 0;
  while (true) {
    round = wait_while(round_, round);
    if (round < 0) return;
    Member member(*this, index);
    call_(context_, member);
    arrive(member);
  }
}

}  // namespace halogen::backend::cpu
