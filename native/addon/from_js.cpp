#include "native/addon/convert.h"

namespace halogen::addon {
namespace {

int32_t integer(const Napi::Value& value) {
  return value.As<Napi::Number>().Int32Value();
}
double real(const Napi::Value& value) {
  return value.As<Napi::Number>().DoubleValue();
}

// Absent values keep the engine's neutral ones.
class Options {
 public:
  explicit Options(const Napi::Value& value) : object_(value.As<Napi::Object>()) {}

  void read(const char* name, double& to) const {
    if (const Napi::Value value = object_.Get(name); !value.IsUndefined()) to = real(value);
  }
  void read(const char* name, int64_t& to) const {
    if (const Napi::Value value = object_.Get(name); !value.IsUndefined()) to = value.As<Napi::Number>().Int64Value();
  }
  void read(const char* name, uint64_t& to) const {
    if (const Napi::Value value = object_.Get(name); !value.IsUndefined()) to = count(value);
  }
  // read(element) for each of an array.
  template <typename Read>
  void each(const char* name, Read read) const {
    const Napi::Value value = object_.Get(name);
    if (value.IsUndefined()) return;
    const Napi::Array array = value.As<Napi::Array>();
    for (uint32_t i = 0; i < array.Length(); ++i) read(array.Get(i));
  }
  Napi::Value get(const char* name) const { return object_.Get(name); }

 private:
  Napi::Object object_;
};

Sampling sampling(const Napi::Value& value) {
  const Options options(value);
  Sampling result;
  options.read("temperature", result.temperature);
  options.read("temperatureRange", result.temperature_range);
  options.read("temperatureExponent", result.temperature_exponent);
  options.read("topK", result.top_k);
  options.read("topP", result.top_p);
  options.read("minP", result.min_p);
  options.read("typicalP", result.typical_p);
  options.read("topNSigma", result.top_n_sigma);
  options.read("xtcProbability", result.xtc_probability);
  options.read("xtcThreshold", result.xtc_threshold);
  options.read("repetitionPenalty", result.repetition_penalty);
  options.read("presencePenalty", result.presence_penalty);
  options.read("frequencyPenalty", result.frequency_penalty);
  options.read("penaltyLastN", result.penalty_last_n);
  options.read("dryMultiplier", result.dry_multiplier);
  options.read("dryBase", result.dry_base);
  options.read("dryAllowedLength", result.dry_allowed_length);
  options.read("dryLastN", result.dry_last_n);
  if (const Napi::Value breakers = options.get("dryBreakers"); !breakers.IsUndefined())
    result.dry_breakers = token_ids(breakers);
  options.each("logitBias", [&](const Napi::Value& each) {
    const Options bias(each);
    result.logit_bias.emplace_back(integer(bias.get("token")), real(bias.get("bias")));
  });
  options.each("suppress", [&](const Napi::Value& each) { result.suppress.push_back(integer(each)); });
  options.each("order", [&](const Napi::Value& each) { result.order.push_back(text(each)); });
  if (const Napi::Value seed = options.get("seed"); !seed.IsNull()) result.seed = count(seed);
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
  const Options options(value);
  options.read("minTokens", request.min_tokens);
  options.each("stopSequences", [&](const Napi::Value& each) { request.stop_sequences.push_back(token_ids(each)); });
  const Napi::Array stops = object.Get("stopTokens").As<Napi::Array>();
  for (uint32_t i = 0; i < stops.Length(); ++i) request.stop_tokens.push_back(integer(stops.Get(i)));
  request.alternatives = integer(object.Get("alternatives"));
  request.constrained = object.Get("constrained").ToBoolean().Value();
  return request;
}

}  // namespace halogen::addon
