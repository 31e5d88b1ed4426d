#include "native/engine/schedule/scheduler.h"

#include <algorithm>
#include <chrono>
#include <utility>

#include "native/engine/sample/random.h"
#include "native/engine/schedule/job.h"

namespace halogen::schedule {
namespace {

// What a chat template puts behind the last message to ask for a reply; where thinking is left out later, the next
// prompt parts from this one within it.
constexpr size_t rewritten_tokens = 16;

double milliseconds_since(std::chrono::steady_clock::time_point begin) {
  return std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - begin).count();
}

}  // namespace

Scheduler::Scheduler(std::unique_ptr<backend::Model> model, uint64_t context)
    : model_(std::move(model)),
      context_(context),
      pages_(model_->page_groups(), model_->page_tokens(), model_->slot_count()),
      thread_([this] { loop(); }) {}

Scheduler::~Scheduler() {
  close();
}

void Scheduler::close() {
  {
    const std::lock_guard lock(mutex_);
    closing_.store(true);
    for (const CancelToken& token : running_) token.cancel();
  }
  signal_->wake();
  std::call_once(joined_, [this] { thread_.join(); });
}

void Scheduler::check_tokens(std::span<const int32_t> tokens) const {
  const int64_t vocabulary = model_->vocabulary();
  const auto outside = std::ranges::find_if(tokens, [&](int32_t id) { return id < 0 || id >= vocabulary; });
  if (outside == tokens.end()) return;
  throw Error(
      code::request_invalid,
      "Token " + std::to_string(*outside) + " is not in the model's vocabulary of " + std::to_string(vocabulary) + ".",
      "", {{"token", *outside}, {"index", outside - tokens.begin()}, {"vocabulary", vocabulary}});
}

std::shared_ptr<Generation> Scheduler::generate(const GenerateRequest& request, GenerateCallbacks callbacks) {
  auto shared = std::make_shared<Generation::Shared>(signal_, std::move(callbacks));
  auto job =
      std::make_unique<Job>(request.tokens, request.sampling, request.sampling.seed.value_or(sample::fresh_seed()));
  job->cancel = shared->cancel;
  job->most_tokens = context_;
  job->most_cause = "context";
  if (request.max_tokens > 0 && request.max_tokens <= context_ - job->prompt) {
    job->most_tokens = job->prompt + request.max_tokens;
    job->most_cause = "length";
  }
  job->least_tokens = request.min_tokens;
  job->stop_tokens = request.stop_tokens;
  job->stops = sample::Stops(request.stop_sequences);
  job->alternatives = static_cast<size_t>(request.alternatives);
  job->constrained = request.constrained;
  job->shared = shared;
  auto generation = std::make_shared<Generation>(shared);
  submit(std::move(job));
  return generation;
}

std::future<std::vector<float>> Scheduler::score(const std::vector<int32_t>& tokens, size_t from,
                                                 const CancelToken& cancel) {
  auto job = std::make_unique<Job>(tokens, Sampling{}, 0);
  job->cancel = cancel;
  job->score_from = from;
  job->scores.reserve((tokens.size() - from) * static_cast<size_t>(model_->vocabulary()));
  std::future<std::vector<float>> result = job->scored.emplace().get_future();
  submit(std::move(job));
  return result;
}

void Scheduler::submit(JobPointer job) {
  {
    const std::lock_guard lock(mutex_);
    if (closing_.load()) throw Error(code::model_not_loaded, "The model was unloaded.", "Load it again.");
    job->order = ++arrivals_;
    arriving_.push_back(std::move(job));
  }
  signal_->wake();
}

void Scheduler::loop() {
  bool retried = false;
  while (true) {
    const uint64_t seen = signal_->version();
    admit();
    for (auto each = jobs_.begin(); each != jobs_.end();) {
      const auto job = each++;
      if (!closing_.load() && !(*job)->cancel.cancelled()) continue;
      end(**job, "cancelled");
      jobs_.erase(job);
    }
    if (closing_.load() && jobs_.empty()) {
      const std::lock_guard lock(mutex_);
      if (arriving_.empty()) return;
      continue;
    }
    const auto next = std::ranges::find_if(jobs_, [&](const JobPointer& job) { return runnable(*job); });
    if (next == jobs_.end()) {
      // Who found no pages may find some now: those that held them may wait for their readers by now.
      if (!std::exchange(retried, true)) {
        for (const JobPointer& job : jobs_) job->starved = false;
      } else {
        signal_->wait(seen);
        retried = false;
      }
      continue;
    }
    const bool alive = step(**next);
    if (!alive || !(*next)->starved) retried = false;
    if (alive) {
      jobs_.splice(jobs_.end(), jobs_, next);
    } else {
      jobs_.erase(next);
    }
    count_used();
  }
}

void Scheduler::count_used() {
  uint64_t kv = 0, states = pages_.used_slots() * model_->slot_bytes();
  const std::span<const backend::PageGroup> groups = model_->page_groups();
  for (size_t i = 0; i < groups.size(); ++i) {
    const uint32_t used = pages_.used_pages(i), running = std::min(used, groups[i].pages - groups[i].kept);
    kv += running * groups[i].page_bytes;
    states += (used - running) * groups[i].page_bytes;
  }
  kv_used_.store(kv, std::memory_order_relaxed);
  state_used_.store(states, std::memory_order_relaxed);
}

void Scheduler::admit() {
  const std::lock_guard lock(mutex_);
  for (JobPointer& job : arriving_) jobs_.push_back(std::move(job));
  arriving_.clear();
  running_.clear();
  for (const JobPointer& job : jobs_) running_.push_back(job->cancel);
}

bool Scheduler::wanted(const Job& job) const {
  return !job.starved && !(job.shared && job.shared->full());
}

bool Scheduler::runnable(const Job& job) const {
  return wanted(job) && (job.logits.empty() || job.shared->has_mask());
}

bool Scheduler::step(Job& job) {
  try {
    if (!job.logits.empty()) return sample(job, std::exchange(job.logits, {}));
    if (job.sequence == nullptr && !begin(job)) return true;
    const size_t position = job.sequence->tokens.size();
    size_t count = std::min(job.tokens.size() - position, static_cast<size_t>(model_->most_tokens()));
    if (job.scored && position < job.score_from) count = std::min(count, job.score_from - position);
    if (job.scored && position >= job.score_from) count = std::min(count, static_cast<size_t>(model_->most_logits()));
    if (!make_room(job, position + count)) return true;
    if (!compute(job, count)) {
      end(job, "cancelled");
      return false;
    }
    if (job.sequence->tokens.size() < job.tokens.size()) return true;
    if (!job.scored) {
      const std::span<const float> logits(model_->logits(0), static_cast<size_t>(model_->vocabulary()));
      if (!job.constrained || job.shared->has_mask()) return sample(job, logits);
      job.logits.assign(logits.begin(), logits.end());
      return true;
    }
    end(job, "");
    return false;
  } catch (const std::bad_alloc&) {
    fail(job, std::make_exception_ptr(
                  Error(code::memory_exhausted, "The system refused memory for a request.", "Close other programs.")));
  } catch (...) {
    fail(job, std::current_exception());
  }
  return false;
}

bool Scheduler::begin(Job& job) {
  const size_t most_reused = job.scored ? job.score_from : job.tokens.size() - 1;
  state::Pages::Start start = pages_.begin(job.tokens, most_reused);
  while (start.sequence == nullptr) {
    Job* const other = victim(job);
    if (other == nullptr) {
      job.starved = true;
      return false;
    }
    suspend(*other);
    start = pages_.begin(job.tokens, most_reused);
  }
  job.sequence = start.sequence;
  for (const state::Pages::Copy& copy : start.copies) model_->copy_page(copy.group, copy.from, copy.to);
  if (start.slot_copy) {
    model_->copy_slot(start.slot_copy->from, start.slot_copy->to);
  } else if (job.sequence->slot && job.sequence->tokens.empty()) {
    model_->clear_slot(*job.sequence->slot);
  }
  mark(job);
  if (job.started) return true;
  job.started = true;
  job.outcome.reused = job.sequence->tokens.size();
  job.outcome.recomputed = job.prompt - job.outcome.reused;
  return true;
}

// Where another branch may begin: where this request parts from what was there, and where the next one may part from
// it. Layers with a window keep theirs there, as recurrent ones keep their state.
void Scheduler::mark(Job& job) {
  const size_t begun = job.sequence->tokens.size(), last = job.prompt - 1;
  if (job.scored || begun > last) return;
  if (!job.started) pages_.mark(*job.sequence, begun, begun);
  const size_t rewritten = job.prompt - std::min(job.prompt, rewritten_tokens);
  pages_.mark(*job.sequence, std::max(begun, std::min(rewritten, last)), last);
}

// Younger requests, and those whose reader is behind, give their room up; their tokens are computed again later. The
// oldest that can run always gets on, so that two long requests cannot undo each other's work for ever.
Scheduler::Job* Scheduler::victim(const Job& job) {
  Job* found = nullptr;
  for (const JobPointer& other : jobs_) {
    if (other.get() == &job || other->sequence == nullptr) continue;
    // Whoever waits for a mask keeps its room: it will run before long.
    if (other->order < job.order && wanted(*other)) continue;
    if (found == nullptr || other->order > found->order) found = other.get();
  }
  return found;
}

// Pages for `tokens` positions.
bool Scheduler::make_room(Job& job, size_t tokens) {
  while (!pages_.reserve(*job.sequence, tokens)) {
    Job* const other = victim(job);
    if (other == nullptr) {
      suspend(job);
      job.starved = true;
      return false;
    }
    suspend(*other);
  }
  return true;
}

void Scheduler::suspend(Job& job) {
  pages_.end(*job.sequence);
  job.sequence = nullptr;
}

bool Scheduler::compute(Job& job, size_t count) {
  state::Sequence& sequence = *job.sequence;
  const size_t position = sequence.tokens.size();
  const std::span<const int32_t> tokens = std::span<const int32_t>(job.tokens).subspan(position, count);
  const bool last = position + count == job.tokens.size();
  const bool scoring = job.scored && position >= job.score_from;
  const size_t logits_from = scoring ? 0 : last && !job.scored ? count - 1 : count;
  const std::vector<backend::Checkpoint> kept = checkpoints(job, count);
  const std::vector<std::span<const uint32_t>> tables(sequence.pages.begin(), sequence.pages.end());
  const backend::Segment segment{
      tokens, static_cast<int64_t>(position), tables, static_cast<int64_t>(logits_from), sequence.slot.value_or(0),
      kept};
  const auto begin = std::chrono::steady_clock::now();
  const bool prefill = position < job.prompt;
  // A state that moves on in place is lost with a pass that stops, so a single token is worth its wait.
  static const std::atomic<bool> never{false};
  const bool whole = sequence.slot && count == 1;
  if (!model_->forward({&segment, 1}, whole ? never : job.cancel.flag())) {
    for (const backend::Checkpoint& each : kept) pages_.give_back(each.slot);
    if (sequence.slot) {
      pages_.drop(sequence);
      job.sequence = nullptr;
    }
    return false;
  }
  (prefill ? job.outcome.prefill_milliseconds : job.outcome.decode_milliseconds) += milliseconds_since(begin);
  sequence.tokens.insert(sequence.tokens.end(), tokens.begin(), tokens.end());
  for (const backend::Checkpoint& each : kept)
    pages_.keep(sequence, position + static_cast<size_t>(each.tokens), each.slot);
  if (prefill && job.shared)
    job.shared->progress({"prefill", sequence.tokens.size() - job.outcome.reused, job.outcome.recomputed});
  if (scoring) keep_scores(job, count);
  return true;
}

std::vector<backend::Checkpoint> Scheduler::checkpoints(const Job& job, size_t count) {
  std::vector<backend::Checkpoint> kept;
  if (!job.sequence->slot || job.scored) return kept;
  const size_t position = job.sequence->tokens.size();
  // The last prompt token is computed again for its logits, whoever asks again. And a template may write the past anew
  // from where the reply began.
  for (const size_t before : {rewritten_tokens, size_t{1}}) {
    if (job.prompt < before) continue;
    const size_t at = job.prompt - before;
    if (at <= position || at > position + count || pages_.kept(std::span(job.tokens).first(at))) continue;
    if (const std::optional<uint32_t> slot = pages_.checkpoint_slot(*job.sequence))
      kept.push_back({static_cast<int64_t>(at - position), *slot});
  }
  return kept;
}

void Scheduler::keep_scores(Job& job, size_t count) {
  const size_t vocabulary = static_cast<size_t>(model_->vocabulary());
  for (size_t row = 0; row < count; ++row) {
    const std::span<const float> logits(model_->logits(static_cast<int64_t>(row)), vocabulary);
    sample::best(logits);  // refuses what is not a number
    const double sum = sample::log_sum(logits);
    for (const float logit : logits) job.scores.push_back(static_cast<float>(static_cast<double>(logit) - sum));
  }
}

bool Scheduler::sample(Job& job, std::span<const float> logits) {
  const auto begin = std::chrono::steady_clock::now();
  const bool may_end = job.tokens.size() - job.prompt >= job.least_tokens;
  sample::Sampler::Input input{logits, job.tokens};
  std::vector<uint32_t> mask;
  if (job.constrained) {
    mask = job.shared->take_mask().value();
    if (mask.empty()) {
      end(job, "grammar");
      return false;
    }
    input.allowed = mask;
  }
  if (!may_end) input.banned = job.stop_tokens;
  const int32_t id = job.sampler.choose(input);
  if (std::ranges::find(job.stop_tokens, id) != job.stop_tokens.end()) {
    job.outcome.stop_token = id;
    end(job, "stop_token");
    return false;
  }
  TokenBatch token;
  token.ids.push_back(id);
  if (job.alternatives > 0) {
    const double sum = sample::log_sum(logits);
    const auto probability = [&](float logit) { return static_cast<float>(static_cast<double>(logit) - sum); };
    token.logprobs.push_back(probability(logits[static_cast<size_t>(id)]));
    for (const sample::Candidate& candidate : sample::largest(logits, job.alternatives)) {
      token.alternative_ids.push_back(candidate.id);
      token.alternative_logprobs.push_back(probability(candidate.logit));
    }
  }
  job.tokens.push_back(id);
  if (job.constrained) job.shared->sampled(id);
  if (job.tokens.size() - job.prompt > 1) job.outcome.decode_milliseconds += milliseconds_since(begin);
  job.held.push_back(std::move(token));
  const std::span<const int32_t> generated = std::span<const int32_t>(job.tokens).subspan(job.prompt);
  if (const auto found = job.stops.ending(generated, job.least_tokens)) {
    job.held.resize(job.held.size() - std::min(job.held.size(), found->length));
    job.outcome.stop_sequence = static_cast<int32_t>(found->index);
    end(job, "stop_sequence");
    return false;
  }
  deliver(job, job.stops.held(generated));
  if (job.tokens.size() < job.most_tokens) return true;
  end(job, job.most_cause);
  return false;
}

// All tokens but the last `kept`.
void Scheduler::deliver(Job& job, size_t kept) {
  while (job.held.size() > kept) {
    ++job.outcome.generated_tokens;
    job.shared->push(job.held.front());
    job.held.pop_front();
  }
}

void Scheduler::end(Job& job, const char* cause) {
  const bool cancelled = std::string_view(cause) == "cancelled";
  if (job.scored && cancelled) {
    fail(job, std::make_exception_ptr(Error(code::request_cancelled, "The request was cancelled.")));
    return;
  }
  if (job.sequence != nullptr) suspend(job);
  for (const JobPointer& other : jobs_) other->starved = false;
  if (job.scored) {
    job.scored->set_value(std::move(job.scores));
    return;
  }
  deliver(job, 0);
  // Cancelled before it began: nothing was reused and nothing computed.
  job.outcome.cause = cause;
  job.shared->finish(job.outcome);
}

void Scheduler::fail(Job& job, std::exception_ptr error) {
  if (job.sequence != nullptr) suspend(job);
  for (const JobPointer& other : jobs_) other->starved = false;
  if (job.scored) {
    job.scored->set_exception(std::move(error));
  } else {
    deliver(job, 0);
    job.shared->fail(std::move(error));
  }
}

}  // namespace halogen::schedule
