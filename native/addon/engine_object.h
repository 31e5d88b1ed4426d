// halogen::Engine in JavaScript: every method but generate() answers by a promise, and none blocks.
#pragma once
#include <napi.h>

#include <cstdint>
#include <map>
#include <memory>

#include "native/addon/mailbox.h"
#include "native/engine/engine.h"

namespace halogen::addon {

class EngineObject : public Napi::ObjectWrap<EngineObject> {
 public:
  static Napi::Function define(Napi::Env env);
  explicit EngineObject(const Napi::CallbackInfo& info);
  ~EngineObject() override;

 private:
  Napi::Value JS_info(const Napi::CallbackInfo& info);
  Napi::Value JS_inspect(const Napi::CallbackInfo& info);
  Napi::Value JS_vocabulary(const Napi::CallbackInfo& info);
  Napi::Value JS_plan(const Napi::CallbackInfo& info);
  // {value: Promise<LoadedModel>, cancel(): void}
  Napi::Value JS_load(const Napi::CallbackInfo& info);
  Napi::Value JS_unload(const Napi::CallbackInfo& info);
  Napi::Value JS_generate(const Napi::CallbackInfo& info);
  Napi::Value JS_score(const Napi::CallbackInfo& info);
  Napi::Value JS_memory(const Napi::CallbackInfo& info);
  Napi::Value JS_close(const Napi::CallbackInfo& info);
  // Blocks until everything in this environment is cancelled and joined: for the process's `exit`.
  void JS_shutdown(const Napi::CallbackInfo& info);

  // Tells V8 what the model holds outside its heap.
  void account(Napi::Env env, uint64_t handle, uint64_t bytes);
  void discount(Napi::Env env, uint64_t handle);

  std::shared_ptr<Mailbox> mailbox_;
  std::shared_ptr<Engine> engine_;
  std::map<uint64_t, int64_t> accounted_;
};

}  // namespace halogen::addon
