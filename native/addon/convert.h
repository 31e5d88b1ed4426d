// Engine structures to and from JavaScript. Incoming values were checked by native/index.ts. On the JavaScript thread.
#pragma once
#include <napi.h>

#include <string>
#include <vector>

#include "native/engine/engine.h"

namespace halogen::addon {

Napi::Value to_js(Napi::Env env, const Scalar& value);
Napi::Value to_js(Napi::Env env, const EngineInfo& info);
Napi::Value to_js(Napi::Env env, const ModelInspection& inspection);
Napi::Value to_js(Napi::Env env, const Vocabulary& vocabulary);
Napi::Value to_js(Napi::Env env, const MemoryPlan& plan);
Napi::Value to_js(Napi::Env env, const LoadedModel& model);
Napi::Value to_js(Napi::Env env, const std::vector<MemoryPool>& pools);
Napi::Value to_js(Napi::Env env, const TokenBatch& batch);
Napi::Value to_js(Napi::Env env, const GenerateOutcome& outcome);
Napi::Value to_js(Napi::Env env, const EngineProgress& progress);
Napi::Value to_js(Napi::Env env, const std::vector<float>& values);

EngineOptions engine_options(const Napi::Value& value);
LoadOptions load_options(const Napi::Value& value);
GenerateRequest generate_request(const Napi::Value& value);
std::vector<int32_t> token_ids(const Napi::Value& value);
uint64_t count(const Napi::Value& value);
std::string text(const Napi::Value& value);

}  // namespace halogen::addon
