#include "native/addon/engine_object.h"

#include <string>
#include <utility>

#include "native/addon/call.h"
#include "native/addon/convert.h"
#include "native/addon/environment.h"
#include "native/addon/error.h"
#include "native/addon/generation_object.h"
#include "native/addon/progress.h"

namespace halogen::addon {
namespace {

// For calls whose value is converted as it is.
constexpr auto as_js = [](Napi::Env env, const auto& value) -> Napi::Value { return to_js(env, value); };

struct Nothing {};

}  // namespace

Napi::Function EngineObject::define(Napi::Env env) {
  return DefineClass(env, "Engine",
                     {
                         InstanceMethod<&EngineObject::JS_info>("info"),
                         InstanceMethod<&EngineObject::JS_inspect>("inspect"),
                         InstanceMethod<&EngineObject::JS_vocabulary>("vocabulary"),
                         InstanceMethod<&EngineObject::JS_plan>("plan"),
                         InstanceMethod<&EngineObject::JS_load>("load"),
                         InstanceMethod<&EngineObject::JS_unload>("unload"),
                         InstanceMethod<&EngineObject::JS_generate>("generate"),
                         InstanceMethod<&EngineObject::JS_score>("score"),
                         InstanceMethod<&EngineObject::JS_memory>("memory"),
                         InstanceMethod<&EngineObject::JS_close>("close"),
                         InstanceMethod<&EngineObject::JS_shutdown>("shutdown"),
                     });
}

EngineObject::EngineObject(const Napi::CallbackInfo& info) : ObjectWrap(info) {
  const Napi::Env env = info.Env();
  engine_ = guarded(env, [&] { return std::make_shared<Engine>(engine_options(info[0])); });
  Environment& environment = Environment::of(env);
  mailbox_ = environment.mailbox();
  environment.add(engine_);
}

EngineObject::~EngineObject() {
  Environment* environment = mailbox_ == nullptr ? nullptr : mailbox_->environment();
  if (environment == nullptr) return;
  environment->remove(engine_);
  while (!accounted_.empty()) discount(Env(), accounted_.begin()->first);
}

Napi::Value EngineObject::JS_info(const Napi::CallbackInfo& info) {
  return call(info.Env(), Value(), [engine = engine_] { return engine->info(); }, as_js);
}

Napi::Value EngineObject::JS_inspect(const Napi::CallbackInfo& info) {
  return call(info.Env(), Value(), [engine = engine_, path = text(info[0])] { return engine->inspect(path); }, as_js);
}

Napi::Value EngineObject::JS_vocabulary(const Napi::CallbackInfo& info) {
  return call(
      info.Env(), Value(), [engine = engine_, path = text(info[0])] { return engine->vocabulary(path); }, as_js);
}

Napi::Value EngineObject::JS_plan(const Napi::CallbackInfo& info) {
  return call(
      info.Env(), Value(), [engine = engine_, options = load_options(info[0])] { return engine->plan(options); },
      as_js);
}

Napi::Value EngineObject::JS_load(const Napi::CallbackInfo& info) {
  const Napi::Env env = info.Env();
  const CancelToken cancel;
  const std::shared_ptr<Progress> progress = Progress::create(env, info[1]);
  const Napi::Promise value = call(
      env, Value(),
      [engine = engine_, options = load_options(info[0]), report = Progress::callback(progress), cancel] {
        return engine->load(options, report, cancel);
      },
      [this](Napi::Env js, const LoadedModel& model) {
        account(js, model.handle, model.plan.total);
        return to_js(js, model);
      },
      [progress](Environment& environment) {
        if (progress != nullptr) progress->end(environment);
      });
  Napi::Object result = Napi::Object::New(env);
  result.Set("value", value);
  result.Set("cancel", Napi::Function::New(env, [cancel](const Napi::CallbackInfo&) { cancel.cancel(); }));
  return result;
}

Napi::Value EngineObject::JS_unload(const Napi::CallbackInfo& info) {
  const uint64_t handle = count(info[0]);
  return call(
      info.Env(), Value(),
      [engine = engine_, handle] {
        engine->unload(handle);
        return Nothing();
      },
      [this, handle](Napi::Env js, const Nothing&) {
        discount(js, handle);
        return js.Undefined();
      });
}

Napi::Value EngineObject::JS_generate(const Napi::CallbackInfo& info) {
  return GenerationObject::start(info.Env(), engine_, generate_request(info[0]), info[1], info[2]);
}

Napi::Value EngineObject::JS_score(const Napi::CallbackInfo& info) {
  return call(
      info.Env(), Value(),
      [engine = engine_, handle = count(info[0]), tokens = token_ids(info[1]), from = count(info[2])] {
        return engine->score(handle, tokens, from);
      },
      as_js);
}

Napi::Value EngineObject::JS_memory(const Napi::CallbackInfo& info) {
  return call(info.Env(), Value(), [engine = engine_] { return engine->memory(); }, as_js);
}

Napi::Value EngineObject::JS_close(const Napi::CallbackInfo& info) {
  return call(
      info.Env(), Value(),
      [engine = engine_] {
        engine->close();
        return Nothing();
      },
      [this](Napi::Env js, const Nothing&) {
        while (!accounted_.empty()) discount(js, accounted_.begin()->first);
        Environment::of(js).remove(engine_);
        return js.Undefined();
      });
}

void EngineObject::JS_shutdown(const Napi::CallbackInfo& info) {
  guarded(info.Env(), [&] { Environment::of(info.Env()).close(); });
}

void EngineObject::account(Napi::Env env, uint64_t handle, uint64_t bytes) {
  accounted_[handle] = static_cast<int64_t>(bytes);
  Napi::MemoryManagement::AdjustExternalMemory(env, accounted_[handle]);
}

void EngineObject::discount(Napi::Env env, uint64_t handle) {
  const auto found = accounted_.find(handle);
  if (found == accounted_.end()) return;
  Napi::MemoryManagement::AdjustExternalMemory(env, -found->second);
  accounted_.erase(found);
}

}  // namespace halogen::addon
