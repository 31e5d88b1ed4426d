// What a running generation and its reader share: a bounded buffer of tokens, and the end.
#pragma once
#include <condition_variable>
#include <exception>
#include <mutex>

#include "native/engine/engine.h"

namespace halogen {

namespace schedule {

// Wakes a scheduler's thread; outlives it, so that a reader may call it at any time.
class Signal {
 public:
  void wake() {
    {
      const std::lock_guard lock(mutex_);
      ++version_;
    }
    changed_.notify_all();
  }
  uint64_t version() const {
    const std::lock_guard lock(mutex_);
    return version_;
  }
  // Returns when the version differs from `seen`.
  void wait(uint64_t seen) const {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [&] { return version_ != seen; });
  }

 private:
  mutable std::mutex mutex_;
  mutable std::condition_variable changed_;
  uint64_t version_ = 0;
};

}  // namespace schedule

struct Generation::Shared {
  // Tokens made ahead of the reader.
  static constexpr size_t most_ahead = 32;

  Shared(std::shared_ptr<schedule::Signal> wake, GenerateCallbacks to_reader)
      : signal(std::move(wake)), callbacks(std::move(to_reader)) {}

  // The scheduler's side.
  bool full() const;
  void push(const TokenBatch& token);
  void finish(const GenerateOutcome& result);
  void fail(std::exception_ptr error);
  void progress(const EngineProgress& progress);
  void sampled(int32_t id);
  bool has_mask() const;
  // Null: there is none yet.
  std::optional<std::vector<uint32_t>> take_mask();
  // No callback runs after this returns.
  void silence();

  const std::shared_ptr<schedule::Signal> signal;
  const CancelToken cancel;

  mutable std::mutex mutex;
  std::condition_variable changed;
  TokenBatch buffer;
  bool ended = false;
  bool armed = false;
  std::optional<std::vector<uint32_t>> mask;  // for the next token
  std::exception_ptr error;
  GenerateOutcome outcome;

 private:
  void notify(bool ready);

  std::mutex callback_mutex;
  GenerateCallbacks callbacks;
};

}  // namespace halogen
