#include "native/addon/progress.h"

#include <utility>

#include "native/addon/convert.h"

namespace halogen::addon {

std::shared_ptr<Progress> Progress::create(Napi::Env env, const Napi::Value& function) {
  if (!function.IsFunction()) return nullptr;
  Environment& environment = Environment::of(env);
  const uint64_t listener = environment.add_listener(function.As<Napi::Function>());
  return std::shared_ptr<Progress>(new Progress(environment.mailbox(), listener));
}

ProgressCallback Progress::callback(const std::shared_ptr<Progress>& progress) {
  if (progress == nullptr) return {};
  return [progress](const EngineProgress& report) {
    {
      std::lock_guard<std::mutex> lock(progress->mutex_);
      progress->latest_ = report;
      if (progress->posted_) return;
      progress->posted_ = true;
    }
    progress->mailbox_->post([progress](Environment& environment, Napi::Env env) {
      EngineProgress latest;
      {
        std::lock_guard<std::mutex> lock(progress->mutex_);
        latest = progress->latest_;
        progress->posted_ = false;
      }
      Napi::FunctionReference* listener = environment.listener(progress->listener_);
      if (listener != nullptr) listener->Value().Call({to_js(env, latest)});
    });
  };
}

void Progress::end(Environment& environment) const {
  environment.remove_listener(listener_);
}

}  // namespace halogen::addon
