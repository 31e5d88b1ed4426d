// Lets better-sqlite3, whose Node-API 10 keeps references to strings, run on the Node-API 8 of Electron 22: strings are kept boxed.
// Force-included before its sources when set-up builds it for the Electron tests; the product never uses it.
#pragma once
#ifdef __cplusplus
#include <node_api.h>

#include <mutex>
#include <unordered_set>

namespace string_reference {

struct Boxed {
  std::mutex mutex;
  std::unordered_set<napi_ref> references;
};

// Never destroyed: finalizers of the environment may still ask after static destructors have run.
inline Boxed& boxed() {
  static auto* const instance = new Boxed;
  return *instance;
}

inline napi_status create(napi_env env, napi_value value, uint32_t count, napi_ref* out) {
  napi_valuetype type;
  napi_status status = napi_typeof(env, value, &type);
  if (status != napi_ok) return status;
  const bool is_string = type == napi_string;
  if (is_string && (status = napi_coerce_to_object(env, value, &value)) != napi_ok) return status;
  status = napi_create_reference(env, value, count, out);
  if (status == napi_ok && is_string) {
    const std::lock_guard<std::mutex> guard(boxed().mutex);
    boxed().references.insert(*out);
  }
  return status;
}

inline napi_status get(napi_env env, napi_ref reference, napi_value* out) {
  const napi_status status = napi_get_reference_value(env, reference, out);
  if (status != napi_ok || *out == nullptr) return status;
  const std::lock_guard<std::mutex> guard(boxed().mutex);
  return boxed().references.contains(reference) ? napi_coerce_to_string(env, *out, out) : status;
}

inline napi_status remove(napi_env env, napi_ref reference) {
  {
    const std::lock_guard<std::mutex> guard(boxed().mutex);
    boxed().references.erase(reference);
  }
  return napi_delete_reference(env, reference);
}

}  // namespace string_reference

#define napi_create_reference string_reference::create
#define napi_get_reference_value string_reference::get
#define napi_delete_reference string_reference::remove
#endif
