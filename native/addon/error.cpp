#include "native/addon/error.h"

#include "native/addon/convert.h"

namespace halogen::addon {

Napi::Error to_js_error(Napi::Env env, const Error& error) {
  Napi::Error result = Napi::Error::New(env, error.message());
  result.Set("code", Napi::String::New(env, error.code()));
  result.Set("hint", Napi::String::New(env, error.hint()));
  Napi::Object detail = Napi::Object::New(env);
  for (const auto& [name, value] : error.detail()) detail.Set(name, to_js(env, value));
  result.Set("detail", detail);
  return result;
}

Error current_error() {
  try {
    throw;
  } catch (const Error& error) {
    return error;
  } catch (const std::bad_alloc&) {
    return Error(code::memory_exhausted, "the machine has no memory left for this");
  } catch (const std::exception& error) {
    return Error(code::internal, error.what());
  } catch (...) {
    return Error(code::internal, "the engine threw something that is no exception");
  }
}

}  // namespace halogen::addon
