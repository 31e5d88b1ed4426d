// The addon, from the top: per-environment state, then one class for each thing that JavaScript holds.
#include <napi.h>

#include "native/addon/engine_object.h"
#include "native/addon/environment.h"
#include "native/addon/generation_object.h"

namespace {

Napi::Object initialize(Napi::Env env, Napi::Object exports) {
  halogen::addon::Environment::install(env);
  halogen::addon::GenerationObject::define(env);
  exports.Set("Engine", halogen::addon::EngineObject::define(env));
  return exports;
}

}  // namespace

NODE_API_MODULE(halogen, initialize)
