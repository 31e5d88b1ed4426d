// A running generation in JavaScript: next() pulls, cancel() ends, outcome() tells after the end.
#pragma once
#include <napi.h>

#include <cstdint>
#include <memory>
#include <optional>

#include "native/addon/environment.h"
#include "native/addon/progress.h"
#include "native/engine/engine.h"

namespace halogen::addon {

class GenerationObject : public Napi::ObjectWrap<GenerationObject> {
 public:
  static void define(Napi::Env env);
  // Throws the engine's error as a JavaScript error.
  static Napi::Value start(Napi::Env env, const std::shared_ptr<Engine>& engine, const GenerateRequest& request,
                           const Napi::Value& on_progress, const Napi::Value& on_sampled);

  explicit GenerationObject(const Napi::CallbackInfo& info);
  ~GenerationObject() override;

  // A token was chosen; calls the listener. On the JavaScript thread.
  void sampled(Napi::Env env, int32_t id);
  // Tokens came or the end did. On the JavaScript thread.
  void wake(Napi::Env env);

 private:
  Napi::Value JS_next(const Napi::CallbackInfo& info);
  Napi::Value JS_outcome(const Napi::CallbackInfo& info);
  void JS_cancel(const Napi::CallbackInfo& info);
  void JS_allow(const Napi::CallbackInfo& info);
  // True when the promise is settled.
  bool settle(Napi::Env env, const Napi::Promise::Deferred& deferred);

  std::shared_ptr<Mailbox> mailbox_;
  uint64_t id_ = 0;
  std::shared_ptr<Engine> engine_;  // outlives generation_
  std::shared_ptr<Progress> progress_;
  std::shared_ptr<Generation> generation_;
  std::optional<Napi::Promise::Deferred> waiting_;
  Napi::FunctionReference on_sampled_;
  bool ended_ = false;
};

}  // namespace halogen::addon
