#include "native/addon/environment.h"

#include <utility>

namespace halogen::addon {

void Environment::install(Napi::Env env) {
  auto* environment = new Environment();
  env.SetInstanceData<Environment>(environment);  // the environment deletes it, after every cleanup hook
  environment->mailbox_ = Mailbox::create(env, *environment);
  // Hooks run last added first: this one before the mailbox's function and all wrapped objects go.
  const napi_status hooked = napi_add_env_cleanup_hook(
      env,
      [](void* data) {
        static_cast<Environment*>(data)->close();
        static_cast<Environment*>(data)->generation_class.Reset();
      },
      environment);
  if (hooked != napi_ok) throw Napi::Error::New(env);
}

Environment& Environment::of(Napi::Env env) {
  return *env.GetInstanceData<Environment>();
}

Environment::~Environment() {
  close();
}

uint64_t Environment::add(GenerationObject* generation) {
  generations_.emplace(next_id_, generation);
  return next_id_++;
}

GenerationObject* Environment::generation(uint64_t id) const {
  const auto found = generations_.find(id);
  return found == generations_.end() ? nullptr : found->second;
}

uint64_t Environment::add_listener(Napi::Function function) {
  listeners_.emplace(next_id_, Napi::Persistent(function));
  return next_id_++;
}

Napi::FunctionReference* Environment::listener(uint64_t id) {
  const auto found = listeners_.find(id);
  return found == listeners_.end() ? nullptr : &found->second;
}

uint64_t Environment::add(std::unique_ptr<Call> call) {
  calls_.emplace(next_id_, std::move(call));
  return next_id_++;
}

std::unique_ptr<Environment::Call> Environment::take_call(uint64_t id) {
  const auto found = calls_.find(id);
  std::unique_ptr<Call> call = std::move(found->second);
  calls_.erase(found);
  if (call->thread.joinable()) call->thread.join();
  return call;
}

void Environment::close() {
  for (const auto& engine : engines_) engine->close();
  for (auto& [id, call] : calls_) {
    if (call->thread.joinable()) call->thread.join();
  }
  if (mailbox_ != nullptr) mailbox_->close();
  calls_.clear();
  listeners_.clear();
  engines_.clear();
}

}  // namespace halogen::addon
