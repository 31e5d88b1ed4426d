#include "native/addon/generation_object.h"

#include <utility>

#include "native/addon/convert.h"
#include "native/addon/error.h"

namespace halogen::addon {
namespace {

// What start() hands to the constructor through an external value.
struct Start {
  const std::shared_ptr<Engine>& engine;
  const GenerateRequest& request;
  const Napi::Value& on_progress;
  const Napi::Value& on_sampled;
};

}  // namespace

void GenerationObject::define(Napi::Env env) {
  Environment::of(env).generation_class = Napi::Persistent(DefineClass(
      env, "Generation",
      {InstanceMethod<&GenerationObject::JS_next>("next"), InstanceMethod<&GenerationObject::JS_outcome>("outcome"),
       InstanceMethod<&GenerationObject::JS_cancel>("cancel"), InstanceMethod<&GenerationObject::JS_allow>("allow")}));
}

Napi::Value GenerationObject::start(Napi::Env env, const std::shared_ptr<Engine>& engine,
                                    const GenerateRequest& request, const Napi::Value& on_progress,
                                    const Napi::Value& on_sampled) {
  Start start{engine, request, on_progress, on_sampled};
  return Environment::of(env).generation_class.New({Napi::External<Start>::New(env, &start)});
}

GenerationObject::GenerationObject(const Napi::CallbackInfo& info) : ObjectWrap(info) {
  const Napi::Env env = info.Env();
  if (info.Length() != 1 || !info[0].IsExternal()) {
    throw Napi::TypeError::New(env, "a generation is made by an engine");
  }
  const Start& start = *info[0].As<Napi::External<Start>>().Data();
  Environment& environment = Environment::of(env);
  mailbox_ = environment.mailbox();
  engine_ = start.engine;
  progress_ = Progress::create(env, start.on_progress);
  id_ = environment.add(this);
  GenerateCallbacks callbacks;
  callbacks.on_progress = Progress::callback(progress_);
  callbacks.on_ready = [mailbox = mailbox_, id = id_] {
    mailbox->post([id](Environment& owner, Napi::Env js) {
      GenerationObject* object = owner.generation(id);
      if (object != nullptr) object->wake(js);
    });
  };
  if (start.on_sampled.IsFunction()) {
    on_sampled_ = Napi::Persistent(start.on_sampled.As<Napi::Function>());
    callbacks.on_sampled = [mailbox = mailbox_, id = id_](int32_t token) {
      mailbox->post([id, token](Environment& owner, Napi::Env js) {
        GenerationObject* object = owner.generation(id);
        if (object != nullptr) object->sampled(js, token);
      });
    };
  }
  try {
    generation_ = guarded(env, [&] { return engine_->generate(start.request, std::move(callbacks)); });
  } catch (...) {
    environment.remove_generation(id_);
    if (progress_ != nullptr) progress_->end(environment);
    throw;
  }
}

GenerationObject::~GenerationObject() {
  if (generation_ != nullptr) generation_->cancel();
  Environment* environment = mailbox_ == nullptr ? nullptr : mailbox_->environment();
  if (environment == nullptr) return;
  environment->remove_generation(id_);
  if (progress_ != nullptr) progress_->end(*environment);
}

bool GenerationObject::settle(Napi::Env env, const Napi::Promise::Deferred& deferred) {
  try {
    TokenBatch batch;
    switch (generation_->poll(batch)) {
      case Poll::ready:
        deferred.Resolve(to_js(env, batch));
        return true;
      case Poll::pending:
        return false;
      case Poll::ended:
        ended_ = true;
        deferred.Resolve(env.Null());
        return true;
    }
  } catch (const Napi::Error& error) {
    ended_ = true;
    deferred.Reject(error.Value());
  } catch (...) {
    ended_ = true;
    deferred.Reject(to_js_error(env, current_error()).Value());
  }
  return true;
}

Napi::Value GenerationObject::JS_next(const Napi::CallbackInfo& info) {
  const Napi::Env env = info.Env();
  if (waiting_.has_value()) throw to_js_error(env, Error(code::request_invalid, "the last next() is not settled yet"));
  const Napi::Promise::Deferred deferred = Napi::Promise::Deferred::New(env);
  if (!settle(env, deferred)) {
    waiting_ = deferred;
    Ref();
    mailbox_->hold();
  }
  return deferred.Promise();
}

void GenerationObject::sampled(Napi::Env env, int32_t id) {
  on_sampled_.Call({Napi::Number::New(env, id)});
}

void GenerationObject::wake(Napi::Env env) {
  if (!waiting_.has_value() || !settle(env, *waiting_)) return;
  waiting_.reset();
  mailbox_->release();
  Unref();
}

Napi::Value GenerationObject::JS_outcome(const Napi::CallbackInfo& info) {
  const Napi::Env env = info.Env();
  if (!ended_) throw to_js_error(env, Error(code::request_invalid, "the outcome is known after the last batch"));
  return guarded(env, [&] { return to_js(env, generation_->outcome()); });
}

void GenerationObject::JS_allow(const Napi::CallbackInfo& info) {
  std::vector<uint32_t> mask;
  if (info[0].IsTypedArray()) {
    const Napi::Uint32Array words = info[0].As<Napi::Uint32Array>();
    mask.assign(words.Data(), words.Data() + words.ElementLength());
  }
  generation_->allow(std::move(mask));
}

void GenerationObject::JS_cancel(const Napi::CallbackInfo& /*info*/) {
  generation_->cancel();
}

}  // namespace halogen::addon
