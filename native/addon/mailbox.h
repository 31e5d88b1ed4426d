// Letters from engine threads to the JavaScript thread of one environment: one thread-safe function for all of them.
#pragma once
#include <napi.h>

#include <functional>
#include <memory>
#include <mutex>
#include <vector>

namespace halogen::addon {

class Environment;

class Mailbox {
 public:
  using Letter = std::function<void(Environment&, Napi::Env)>;

  // On the JavaScript thread. Does not keep the event loop alive by itself.
  static std::shared_ptr<Mailbox> create(Napi::Env env, Environment& environment);

  // From any thread. Letters are opened in order on the JavaScript thread; after close() they are dropped.
  // A letter must not own JavaScript references: it may be dropped on the thread that wrote it.
  void post(Letter letter);

  // On the JavaScript thread, in pairs: between them the event loop stays alive.
  void hold();
  void release();

  // On the JavaScript thread. No letter is opened afterwards.
  void close();

  // On the JavaScript thread, null after close(): for objects that may outlive the environment's data.
  Environment* environment() const { return closed_ ? nullptr : &environment_; }

 private:
  explicit Mailbox(Environment& environment) : environment_(environment) {}
  static void open_letters(napi_env env, napi_value callback, void* context, void* data);
  static void finalize(napi_env env, void* data, void* hint);
  void deliver(Napi::Env env);

  Environment& environment_;
  napi_env env_ = nullptr;
  int held_ = 0;
  // Guards the rest. Old Node frees the function at teardown while threads may still call it: never without the lock.
  std::mutex mutex_;
  napi_threadsafe_function function_ = nullptr;
  bool closed_ = false;
  std::vector<Letter> letters_;
};

}  // namespace halogen::addon
