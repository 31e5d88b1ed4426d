// Progress of an engine call to a JavaScript function. Reports that come faster than they are read replace each other.
#pragma once
#include <napi.h>

#include <cstdint>
#include <memory>
#include <mutex>

#include "native/addon/environment.h"

namespace halogen::addon {

class Progress {
 public:
  // `function` may be null or undefined: then callback() is empty.
  static std::shared_ptr<Progress> create(Napi::Env env, const Napi::Value& function);

  static ProgressCallback callback(const std::shared_ptr<Progress>& progress);
  // On the JavaScript thread: nothing is reported afterwards.
  void end(Environment& environment) const;

 private:
  Progress(std::shared_ptr<Mailbox> mailbox, uint64_t listener) : mailbox_(std::move(mailbox)), listener_(listener) {}

  std::shared_ptr<Mailbox> mailbox_;
  uint64_t listener_;
  std::mutex mutex_;
  EngineProgress latest_;  // guarded
  bool posted_ = false;    // guarded
};

}  // namespace halogen::addon
