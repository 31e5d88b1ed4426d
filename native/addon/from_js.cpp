#include "native/addon/convert.h"

namespace halogen::addon {
namespace {

int32_t integer(const Napi::Value& value) {
  return value.As<Napi::Number>().Int32Value();
}
double real(const Napi::Value& value) {
  return value.As<Napi::Number>().DoubleValue();
}

Sampling sampling(const Napi::Value& value) {
  const Napi::Object object = value.As<Napi::Object>();
  Sampling result;
  result.temperature = real(object.Get("temperature"));
  result.top_k = object.Get("topK").As<Napi::Number>().Int64Value();
  result.top_p = real(object.Get("topP"));
  result.min_p = real(object.Get("minP"));
  const Napi::Value seed = object.Get("seed");
  if (!seed.IsNull()) result.seed = count(seed);
  return result;
}

}  // namespace

uint64_t count(const Napi::Value& value) {
  return static_cast<uint64_t>(value.As<Napi::Number>().Int64Value());
}

std::string text(const Napi::Value& value) {
  return value.As<Napi::String>().Utf8Value();
}

std::vector<int32_t> token_ids(const Napi::Value& value) {
  const Napi::Int32Array array = value.As<Napi::Int32Array>();
  return {array.Data(), array.Data() + array.ElementLength()};
}

EngineOptions engine_options(const Napi::Value& value) {
  const Napi::Object object = value.As<Napi::Object>();
  EngineOptions options;
  options.cpu_variant = text(object.Get("cpuVariant"));
  options.threads = integer(object.Get("threads"));
  options.pin_threads = object.Get("pinThreads").As<Napi::Boolean>().Value();
  return options;
}

LoadOptions load_options(const Napi::Value& value) {
  const Napi::Object object = value.As<Napi::Object>();
  LoadOptions options;
  options.path = text(object.Get("path"));
  options.backend = text(object.Get("backend"));
  options.context_length = count(object.Get("contextLength"));
  options.kv_type = text(object.Get("kvType"));
  options.threads = integer(object.Get("threads"));
  return options;
}

GenerateRequest generate_request(const Napi::Value& value) {
  const Napi::Object object = value.As<Napi::Object>();
  GenerateRequest request;
  request.handle = count(object.Get("handle"));
  request.tokens = token_ids(object.Get("tokens"));
  request.sampling = sampling(object.Get("sampling"));
  request.max_tokens = count(object.Get("maxTokens"));
  const Napi::Array stops = object.Get("stopTokens").As<Napi::Array>();
  for (uint32_t i = 0; i < stops.Length(); ++i) request.stop_tokens.push_back(integer(stops.Get(i)));
  request.alternatives = integer(object.Get("alternatives"));
  return request;
}

}  // namespace halogen::addon
