// One blocking engine call on a thread of its own, as a promise. Not on libuv's pool: a long load there would starve
// file access, and process.exit waits for that pool.
#pragma once
#include <napi.h>

#include <memory>
#include <optional>
#include <system_error>
#include <thread>
#include <utility>

#include "native/addon/environment.h"
#include "native/addon/error.h"

namespace halogen::addon {

// `work` runs on the thread and gives a value; `finish(env, value)` makes the JavaScript value of it on the JavaScript
// thread. `settled(environment)` runs there too, before either way of settling. `keep` lives until then.
template <typename Work, typename Finish, typename Settled>
Napi::Promise call(Napi::Env env, const Napi::Object& keep, Work work, Finish finish, Settled settled) {
  using Value = decltype(work());
  Environment& environment = Environment::of(env);
  const std::shared_ptr<Mailbox> mailbox = environment.mailbox();
  auto made = std::make_unique<Environment::Call>(
      Environment::Call{Napi::Promise::Deferred::New(env), Napi::Persistent(keep), std::thread()});
  const Napi::Promise promise = made->deferred.Promise();
  const uint64_t id = environment.add(std::move(made));
  mailbox->hold();

  auto body = [mailbox, id, work = std::move(work), finish, settled]() mutable {
    auto value = std::make_shared<std::optional<Value>>();
    std::shared_ptr<Error> error;
    try {
      value->emplace(work());
    } catch (...) {
      error = std::make_shared<Error>(current_error());
    }
    mailbox->post([id, value, error, finish, settled](Environment& owner, Napi::Env js) {
      const std::unique_ptr<Environment::Call> done = owner.take_call(id);
      owner.mailbox()->release();
      settled(owner);
      if (error != nullptr) {
        done->deferred.Reject(to_js_error(js, *error).Value());
        return;
      }
      try {
        done->deferred.Resolve(guarded(js, [&] { return finish(js, **value); }));
      } catch (const Napi::Error& failed) {
        done->deferred.Reject(failed.Value());  // a value too large for JavaScript
      }
    });
  };
  try {
    environment.call(id).thread = std::thread(std::move(body));
  } catch (const std::system_error& failed) {
    const std::unique_ptr<Environment::Call> done = environment.take_call(id);
    mailbox->release();
    settled(environment);
    const Error error(code::memory_exhausted, std::string("no thread could be started: ") + failed.what());
    done->deferred.Reject(to_js_error(env, error).Value());
  }
  return promise;
}

template <typename Work, typename Finish>
Napi::Promise call(Napi::Env env, const Napi::Object& keep, Work work, Finish finish) {
  return call(env, keep, std::move(work), std::move(finish), [](Environment&) {});
}

}  // namespace halogen::addon
