// What the addon keeps for one JavaScript environment (main thread or worker); nothing is global.
#pragma once
#include <napi.h>

#include <cstdint>
#include <map>
#include <memory>
#include <set>
#include <thread>

#include "native/addon/mailbox.h"
#include "native/engine/engine.h"

namespace halogen::addon {

class GenerationObject;

// All members are for the JavaScript thread.
class Environment {
 public:
  static Environment& of(Napi::Env env);
  static void install(Napi::Env env);
  ~Environment();

  const std::shared_ptr<Mailbox>& mailbox() const { return mailbox_; }

  // Constructor of GenerationObject; EngineObject's is held by the module's exports.
  Napi::FunctionReference generation_class;

  void add(const std::shared_ptr<Engine>& engine) { engines_.insert(engine); }
  void remove(const std::shared_ptr<Engine>& engine) { engines_.erase(engine); }

  // Objects and callbacks that letters find by id, so that no letter owns a JavaScript value.
  uint64_t add(GenerationObject* generation);
  void remove_generation(uint64_t id) { generations_.erase(id); }
  GenerationObject* generation(uint64_t id) const;
  uint64_t add_listener(Napi::Function function);
  void remove_listener(uint64_t id) { listeners_.erase(id); }
  Napi::FunctionReference* listener(uint64_t id);

  // A call that runs on a thread of its own; see call.h.
  struct Call {
    Napi::Promise::Deferred deferred;
    Napi::ObjectReference keep;
    std::thread thread;
  };
  uint64_t add(std::unique_ptr<Call> call);
  Call& call(uint64_t id) { return *calls_.at(id); }
  // Joins its thread, which must be at its end.
  std::unique_ptr<Call> take_call(uint64_t id);

  // Cancels and joins everything. Afterwards engines answer engine.unavailable and letters are dropped. Idempotent.
  void close();

 private:
  Environment() = default;

  std::shared_ptr<Mailbox> mailbox_;
  std::set<std::shared_ptr<Engine>> engines_;
  std::map<uint64_t, GenerationObject*> generations_;
  std::map<uint64_t, Napi::FunctionReference> listeners_;
  std::map<uint64_t, std::unique_ptr<Call>> calls_;
  uint64_t next_id_ = 1;
};

}  // namespace halogen::addon
