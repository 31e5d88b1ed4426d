// Runs the requests of one loaded model on a thread of its own, one step of one request at a time, in turn.
// A step is a chunk of prefill or one decoded token; a request whose reader is behind, or which lacks pages, is passed
// over.
#pragma once
#include <deque>
#include <future>
#include <list>
#include <thread>

#include "native/backend/backend.h"
#include "native/engine/sample/sampler.h"
#include "native/engine/schedule/generation.h"
#include "native/engine/state/pages.h"

namespace halogen::schedule {

class Scheduler {
 public:
  Scheduler(std::unique_ptr<backend::Model> model, uint64_t context);
  ~Scheduler();
  // Cancels everything and joins the thread; later requests throw model.not_loaded. Idempotent, from any thread.
  void close();

  // The request must have been checked against vocabulary and context.
  std::shared_ptr<Generation> generate(const GenerateRequest& request, GenerateCallbacks callbacks);
  std::future<std::vector<float>> score(const std::vector<int32_t>& tokens, size_t from, const CancelToken& cancel);

  // Throws request.invalid for an id outside the vocabulary.
  void check_tokens(std::span<const int32_t> tokens) const;
  const backend::Model& model() const { return *model_; }
  uint64_t context() const { return context_; }
  uint64_t kv_used() const { return kv_used_.load(std::memory_order_relaxed); }
  // Of the recurrent and the checkpoint pool together, the windows' pages among them.
  uint64_t state_used() const { return state_used_.load(std::memory_order_relaxed); }

 private:
  struct Job;
  using JobPointer = std::unique_ptr<Job>;

  void submit(JobPointer job);
  void loop();
  void count_used();
  void admit();
  // Has all it needs from others but the room: its reader is not behind.
  bool wanted(const Job& job) const;
  bool runnable(const Job& job) const;
  // One step. False: the job has ended and was told so.
  bool step(Job& job);
  // False: there is no room for it now.
  bool begin(Job& job);
  // Whom `job` may take pages or a slot from; null: nobody.
  Job* victim(const Job& job);
  bool make_room(Job& job, size_t tokens);
  void mark(Job& job);
  bool compute(Job& job, size_t count);
  // Slots for what is to be kept of `count` tokens about to be computed.
  std::vector<backend::Checkpoint> checkpoints(const Job& job, size_t count);
  bool sample(Job& job, std::span<const float> logits);
  void deliver(Job& job, size_t kept);
  void keep_scores(Job& job, size_t count);
  void suspend(Job& job);
  void end(Job& job, const char* cause);
  void fail(Job& job, std::exception_ptr error);

  const std::unique_ptr<backend::Model> model_;
  const uint64_t context_;
  const std::shared_ptr<Signal> signal_ = std::make_shared<Signal>();
  state::Pages pages_;
  std::atomic<uint64_t> kv_used_{0};
  std::atomic<uint64_t> state_used_{0};

  std::mutex mutex_;
  std::deque<JobPointer> arriving_;
  std::vector<CancelToken> running_;  // of the jobs the thread has taken
  uint64_t arrivals_ = 0;
  std::atomic<bool> closing_{false};

  std::once_flag joined_;
  std::list<JobPointer> jobs_;  // of the thread alone; the front is next
  std::thread thread_;
};

}  // namespace halogen::schedule
