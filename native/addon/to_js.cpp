#include <cstring>

#include "native/addon/convert.h"

namespace halogen::addon {
namespace {

Napi::Number number(Napi::Env env, double value) {
  return Napi::Number::New(env, value);
}
Napi::Number number(Napi::Env env, uint64_t value) {
  return Napi::Number::New(env, static_cast<double>(value));
}
Napi::String string(Napi::Env env, const std::string& value) {
  return Napi::String::New(env, value);
}
Napi::Boolean boolean(Napi::Env env, bool value) {
  return Napi::Boolean::New(env, value);
}

// One copy: Electron's V8 takes no memory from outside its own heap.
template <typename Array, typename T>
Array typed_array(Napi::Env env, const std::vector<T>& values) {
  Array array = Array::New(env, values.size());
  if (!values.empty()) std::memcpy(array.Data(), values.data(), values.size() * sizeof(T));
  return array;
}

Napi::Array strings(Napi::Env env, const std::vector<std::string>& values) {
  Napi::Array array = Napi::Array::New(env, values.size());
  for (uint32_t i = 0; i < values.size(); ++i) array.Set(i, string(env, values[i]));
  return array;
}

Napi::Object packed(Napi::Env env, const PackedStrings& value) {
  Napi::Object object = Napi::Object::New(env);
  object.Set("bytes", typed_array<Napi::Uint8Array>(env, value.bytes));
  object.Set("offsets", typed_array<Napi::Uint32Array>(env, value.offsets));
  return object;
}

Napi::Object device(Napi::Env env, const Device& value) {
  Napi::Object object = Napi::Object::New(env);
  object.Set("backend", string(env, value.backend));
  object.Set("name", string(env, value.name));
  object.Set("usable", boolean(env, value.usable));
  object.Set("reason", string(env, value.reason));
  object.Set("features", strings(env, value.features));
  object.Set("memory", to_js(env, value.memory));
  return object;
}

}  // namespace

Napi::Value to_js(Napi::Env env, const Scalar& value) {
  if (const bool* boolean_value = value.boolean()) return boolean(env, *boolean_value);
  if (const double* number_value = value.number()) return number(env, *number_value);
  if (const std::string* string_value = value.string()) return string(env, *string_value);
  return env.Null();
}

Napi::Value to_js(Napi::Env env, const std::vector<MemoryPool>& pools) {
  Napi::Array array = Napi::Array::New(env, pools.size());
  for (uint32_t i = 0; i < pools.size(); ++i) {
    Napi::Object pool = Napi::Object::New(env);
    pool.Set("name", string(env, pools[i].name));
    pool.Set("used", number(env, pools[i].used));
    pool.Set("limit", pools[i].limit ? number(env, *pools[i].limit) : env.Null());
    array.Set(i, pool);
  }
  return array;
}

Napi::Value to_js(Napi::Env env, const EngineInfo& info) {
  Napi::Object object = Napi::Object::New(env);
  object.Set("version", string(env, info.version));
  Napi::Array devices = Napi::Array::New(env, info.devices.size());
  for (uint32_t i = 0; i < info.devices.size(); ++i) devices.Set(i, device(env, info.devices[i]));
  object.Set("devices", devices);
  object.Set("chosen", string(env, info.chosen));
  object.Set("threads", number(env, static_cast<double>(info.threads)));
  object.Set("architectures", strings(env, info.architectures));
  object.Set("formats", strings(env, info.formats));
  return object;
}

Napi::Value to_js(Napi::Env env, const ModelInspection& inspection) {
  Napi::Object object = Napi::Object::New(env);
  object.Set("path", string(env, inspection.path));
  object.Set("bytes", number(env, inspection.bytes));
  object.Set("architecture", string(env, inspection.architecture));
  object.Set("supported", boolean(env, inspection.supported));
  object.Set("problem", string(env, inspection.problem));
  object.Set("name", string(env, inspection.name));
  object.Set("sizeLabel", string(env, inspection.size_label));
  object.Set("parameters", number(env, inspection.parameters));
  object.Set("format", string(env, inspection.format));
  Napi::Object formats = Napi::Object::New(env);
  for (const auto& [name, bytes] : inspection.formats) formats.Set(name, number(env, bytes));
  object.Set("formats", formats);
  object.Set("contextLength", number(env, inspection.context_length));
  object.Set("embeddingLength", number(env, inspection.embedding_length));
  object.Set("blockCount", number(env, inspection.block_count));
  object.Set("headCount", number(env, inspection.head_count));
  object.Set("vocabularySize", number(env, inspection.vocabulary_size));
  object.Set("template", inspection.chat_template ? string(env, *inspection.chat_template) : env.Null());
  Napi::Object metadata = Napi::Object::New(env);
  for (const auto& [name, value] : inspection.metadata) metadata.Set(name, to_js(env, value));
  object.Set("metadata", metadata);
  return object;
}

Napi::Value to_js(Napi::Env env, const Vocabulary& vocabulary) {
  Napi::Object object = Napi::Object::New(env);
  object.Set("model", string(env, vocabulary.model));
  object.Set("pre", string(env, vocabulary.pre));
  object.Set("tokens", packed(env, vocabulary.tokens));
  object.Set("types", typed_array<Napi::Int32Array>(env, vocabulary.types));
  object.Set("scores", typed_array<Napi::Float32Array>(env, vocabulary.scores));
  object.Set("merges", packed(env, vocabulary.merges));
  Napi::Object special = Napi::Object::New(env);
  for (const auto& [name, id] : vocabulary.special) special.Set(name, number(env, static_cast<double>(id)));
  object.Set("special", special);
  Napi::Object flags = Napi::Object::New(env);
  for (const auto& [name, flag] : vocabulary.flags) flags.Set(name, boolean(env, flag));
  object.Set("flags", flags);
  object.Set("suppressed", typed_array<Napi::Int32Array>(env, vocabulary.suppressed));
  return object;
}

Napi::Value to_js(Napi::Env env, const MemoryPlan& plan) {
  Napi::Object object = Napi::Object::New(env);
  object.Set("contextLength", number(env, plan.context_length));
  object.Set("kvType", string(env, plan.kv_type));
  object.Set("weights", number(env, plan.weights));
  object.Set("kv", number(env, plan.kv));
  object.Set("recurrent", number(env, plan.recurrent));
  object.Set("checkpoints", number(env, plan.checkpoints));
  object.Set("scratch", number(env, plan.scratch));
  object.Set("total", number(env, plan.total));
  object.Set("available", number(env, plan.available));
  object.Set("fits", boolean(env, plan.fits));
  object.Set("reason", string(env, plan.reason));
  return object;
}

Napi::Value to_js(Napi::Env env, const LoadedModel& model) {
  Napi::Object object = Napi::Object::New(env);
  object.Set("handle", number(env, model.handle));
  object.Set("backend", string(env, model.backend));
  object.Set("plan", to_js(env, model.plan));
  object.Set("loadMilliseconds", number(env, model.load_milliseconds));
  return object;
}

Napi::Value to_js(Napi::Env env, const TokenBatch& batch) {
  Napi::Object object = Napi::Object::New(env);
  object.Set("ids", typed_array<Napi::Int32Array>(env, batch.ids));
  object.Set("logprobs", typed_array<Napi::Float32Array>(env, batch.logprobs));
  object.Set("alternativeIds", typed_array<Napi::Int32Array>(env, batch.alternative_ids));
  object.Set("alternativeLogprobs", typed_array<Napi::Float32Array>(env, batch.alternative_logprobs));
  return object;
}

Napi::Value to_js(Napi::Env env, const GenerateOutcome& outcome) {
  Napi::Object object = Napi::Object::New(env);
  object.Set("cause", string(env, outcome.cause));
  object.Set("stopToken", number(env, static_cast<double>(outcome.stop_token)));
  object.Set("stopSequence", number(env, static_cast<double>(outcome.stop_sequence)));
  object.Set("promptTokens", number(env, outcome.prompt_tokens));
  object.Set("reused", number(env, outcome.reused));
  object.Set("recomputed", number(env, outcome.recomputed));
  object.Set("generatedTokens", number(env, outcome.generated_tokens));
  object.Set("prefillMilliseconds", number(env, outcome.prefill_milliseconds));
  object.Set("decodeMilliseconds", number(env, outcome.decode_milliseconds));
  object.Set("seed", number(env, outcome.seed));
  return object;
}

Napi::Value to_js(Napi::Env env, const EngineProgress& progress) {
  Napi::Object object = Napi::Object::New(env);
  object.Set("phase", string(env, progress.phase));
  object.Set("done", number(env, progress.done));
  object.Set("total", number(env, progress.total));
  return object;
}

Napi::Value to_js(Napi::Env env, const std::vector<float>& values) {
  return typed_array<Napi::Float32Array>(env, values);
}

}  // namespace halogen::addon
