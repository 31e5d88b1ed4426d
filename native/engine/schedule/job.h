// One request on its way through the scheduler.
#pragma once
#include <future>
#include <optional>

#include "native/engine/sample/stops.h"
#include "native/engine/schedule/scheduler.h"

namespace halogen::schedule {

struct Scheduler::Job {
  Job(std::vector<int32_t> known, const Sampling& sampling, uint64_t seed)
      : tokens(std::move(known)), prompt(tokens.size()), sampler(sampling, seed) {
    outcome.prompt_tokens = prompt;
    outcome.seed = seed;
  }

  uint64_t order = 0;  // of arrival
  CancelToken cancel;
  std::vector<int32_t> tokens;  // the prompt and what was generated
  const size_t prompt;
  sample::Sampler sampler;
  size_t most_tokens = 0;  // length of the whole sequence at which it ends, and why
  const char* most_cause = "length";
  size_t least_tokens = 0;  // of the reply, before which no stop counts
  std::vector<int32_t> stop_tokens;
  sample::Stops stops{{}};
  std::deque<TokenBatch> held;  // may be the beginning of a stop sequence
  size_t alternatives = 0;
  bool constrained = false;
  std::vector<float> logits;  // kept while the mask is waited for: the model's own belong to the next pass

  state::Sequence* sequence = nullptr;  // null: waiting for pages
  bool started = false;
  bool starved = false;  // found no pages; tried again when some come free
  GenerateOutcome outcome;

  std::shared_ptr<Generation::Shared> shared;              // of a generation
  std::optional<std::promise<std::vector<float>>> scored;  // of a scoring run
  size_t score_from = 0;
  std::vector<float> scores;
};

}  // namespace halogen::schedule
