#include "native/backend/cpu/team.h"

#include <climits>
#include <string>
#include <system_error>

#include "native/engine/error.h"

#ifdef __linux__
#include <linux/futex.h>
#include <pthread.h>
#include <sched.h>
#include <sys/syscall.h>
#include <unistd.h>
#endif
#if defined(__x86_64__) || defined(_M_X64)
#include <immintrin.h>
#endif

namespace halogen::backend::cpu {
namespace {

// Some microseconds of spinning cover a stage's uneven end. Longer would starve the member waited for where there are
// more threads than cores; yielding instead was measured far worse there, since it gives up a whole time slice.
constexpr int spins = 400;

void relax() {
#if defined(__x86_64__) || defined(_M_X64)
  _mm_pause();
#elif defined(__aarch64__)
  asm volatile("yield");
#endif
}

// std::atomic's own waiting yields before it sleeps, so Linux sleeps by hand.
void sleep_while(const std::atomic<int>& value, int old) {
#ifdef __linux__
  syscall(SYS_futex, reinterpret_cast<const int*>(&value), FUTEX_WAIT_PRIVATE, old, nullptr, nullptr, 0);
#else
  value.wait(old, std::memory_order_acquire);
#endif
}

void wake_all(std::atomic<int>& value) {
#ifdef __linux__
  syscall(SYS_futex, reinterpret_cast<int*>(&value), FUTEX_WAKE_PRIVATE, INT_MAX, nullptr, nullptr, 0);
#else
  value.notify_all();
#endif
}

// Returns when value differs from `old`: spins, then sleeps.
int wait_while(const std::atomic<int>& value, int old, std::atomic<int>& sleepers) {
  for (int i = 0; i < spins; ++i) {
    const int now = value.load(std::memory_order_acquire);
    if (now != old) return now;
    relax();
  }
  // Sequentially consistent on both sides: either the changer sees this sleeper, or the sleeper sees the change.
  sleepers.fetch_add(1);
  int now = value.load();
  while (now == old) {
    sleep_while(value, old);
    now = value.load();
  }
  sleepers.fetch_sub(1);
  return now;
}

void change(std::atomic<int>& value, int now, const std::atomic<int>& sleepers) {
  value.store(now);
  if (sleepers.load() > 0) wake_all(value);
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
  change(round_, -1, sleepers_);
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
    change(generation_, generation + 1, sleepers_);
  } else {
    wait_while(generation_, generation, sleepers_);
  }
}

void Team::run_raw(Call call, void* context) {
  call_ = call;
  context_ = context;
  for (Ticket& ticket : tickets_) ticket.value.store(0, std::memory_order_relaxed);
  change(round_, (round_.load(std::memory_order_relaxed) + 1) & 0x3fffffff, sleepers_);
  Member member(*this, 0);
  call(context, member);
  arrive(member);
}

void Team::work(int index) {
  if (!cores_.empty()) pin(cores_[static_cast<size_t>(index) % cores_.size()]);
  int round = 0;
  while (true) {
    round = wait_while(round_, round, sleepers_);
    if (round < 0) return;
    Member member(*this, index);
    call_(context_, member);
    arrive(member);
  }
}

}  // namespace halogen::backend::cpu
