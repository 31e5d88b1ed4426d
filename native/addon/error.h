// Engine errors as JavaScript errors: message, code, hint, detail. native/index.ts makes HalogenErrors of them.
#pragma once
#include <napi.h>

#include <exception>
#include <new>
#include <optional>
#include <utility>

#include "native/engine/error.h"

namespace halogen::addon {

// On the JavaScript thread.
Napi::Error to_js_error(Napi::Env env, const Error& error);

// Any exception as an engine error, while it is being handled.
Error current_error();

// Runs `work`; engine errors are thrown on as JavaScript errors. On the JavaScript thread.
template <typename Work>
auto guarded(Napi::Env env, Work work) {
  try {
    return work();
  } catch (const Napi::Error&) {
    throw;
  } catch (...) {
    throw to_js_error(env, current_error());
  }
}

}  // namespace halogen::addon
