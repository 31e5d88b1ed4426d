#include "native/engine/schedule/generation.h"

namespace halogen {
namespace {

template <typename T>
void append(std::vector<T>& to, const std::vector<T>& from) {
  to.insert(to.end(), from.begin(), from.end());
}

}  // namespace

bool Generation::Shared::full() const {
  const std::lock_guard lock(mutex);
  return buffer.ids.size() >= most_ahead;
}

void Generation::Shared::push(const TokenBatch& token) {
  bool call = false;
  {
    const std::lock_guard lock(mutex);
    append(buffer.ids, token.ids);
    append(buffer.logprobs, token.logprobs);
    append(buffer.alternative_ids, token.alternative_ids);
    append(buffer.alternative_logprobs, token.alternative_logprobs);
    call = std::exchange(armed, false);
  }
  notify(call);
}

void Generation::Shared::finish(const GenerateOutcome& result) {
  bool call = false;
  {
    const std::lock_guard lock(mutex);
    outcome = result;
    ended = true;
    call = std::exchange(armed, false);
  }
  notify(call);
}

void Generation::Shared::fail(std::exception_ptr cause) {
  bool call = false;
  {
    const std::lock_guard lock(mutex);
    error = std::move(cause);
    ended = true;
    call = std::exchange(armed, false);
  }
  notify(call);
}

void Generation::Shared::notify(bool ready) {
  changed.notify_all();
  if (!ready) return;
  const std::lock_guard lock(callback_mutex);
  if (callbacks.on_ready) callbacks.on_ready();
}

void Generation::Shared::progress(const EngineProgress& progress) {
  const std::lock_guard lock(callback_mutex);
  if (callbacks.on_progress) callbacks.on_progress(progress);
}

void Generation::Shared::sampled(int32_t id) {
  const std::lock_guard lock(callback_mutex);
  if (callbacks.on_sampled) callbacks.on_sampled(id);
}

bool Generation::Shared::has_mask() const {
  const std::lock_guard lock(mutex);
  return mask.has_value();
}

std::optional<std::vector<uint32_t>> Generation::Shared::take_mask() {
  const std::lock_guard lock(mutex);
  return std::exchange(mask, std::nullopt);
}

void Generation::Shared::silence() {
  const std::lock_guard lock(callback_mutex);
  callbacks = {};
}

Generation::Generation(std::shared_ptr<Shared> shared) : shared_(std::move(shared)) {}

Generation::~Generation() {
  cancel();
  shared_->silence();
}

bool Generation::next(TokenBatch& batch) {
  {
    std::unique_lock lock(shared_->mutex);
    shared_->changed.wait(lock, [&] { return shared_->ended || !shared_->buffer.ids.empty(); });
    batch = std::exchange(shared_->buffer, {});
    if (batch.ids.empty()) {
      if (shared_->error) std::rethrow_exception(shared_->error);
      return false;
    }
  }
  shared_->signal->wake();
  return true;
}

Poll Generation::poll(TokenBatch& batch) {
  {
    const std::lock_guard lock(shared_->mutex);
    batch = std::exchange(shared_->buffer, {});
    if (batch.ids.empty()) {
      if (!shared_->ended) {
        shared_->armed = true;
        return Poll::pending;
      }
      if (shared_->error) std::rethrow_exception(shared_->error);
      return Poll::ended;
    }
  }
  shared_->signal->wake();
  return Poll::ready;
}

void Generation::allow(std::vector<uint32_t> mask) {
  {
    const std::lock_guard lock(shared_->mutex);
    shared_->mask = std::move(mask);
  }
  shared_->signal->wake();
}

void Generation::cancel() {
  shared_->cancel.cancel();
  shared_->signal->wake();
}

GenerateOutcome Generation::outcome() {
  std::unique_lock lock(shared_->mutex);
  shared_->changed.wait(lock, [&] { return shared_->ended; });
  if (shared_->error) std::rethrow_exception(shared_->error);
  return shared_->outcome;
}

}  // namespace halogen
