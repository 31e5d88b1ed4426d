// What every target does with a model's path. Allowed ends: halogen::Error with a code and words, or finite numbers.
#pragma once
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <string>
#include <vector>

#include "native/engine/engine.h"

namespace halogen::fuzz {

constexpr uint64_t most_loaded = 16u << 20;  // bytes of a plan: what is larger takes too long to be tried often

[[noreturn]] inline void wrong(const std::string& what) {
  std::fprintf(stderr, "WRONG: %s\n", what.c_str());
  std::abort();
}

template <typename Body>
bool tried(Body&& body) {
  try {
    body();
    return true;
  } catch (const Error& error) {
    if (error.code().empty() || error.message().empty()) wrong("an error says nothing");
    if (error.code() == code::internal) wrong("internal: " + error.message());
    return false;
  }
}

inline void check_strings(const PackedStrings& strings) {
  if (strings.offsets.empty() || strings.offsets.back() != strings.bytes.size())
    wrong("strings do not end where their bytes do");
  for (size_t i = 1; i < strings.offsets.size(); ++i)
    if (strings.offsets[i] < strings.offsets[i - 1]) wrong("a string of negative length");
}

inline void make_tokens(Engine& engine, uint64_t handle, uint64_t vocabulary) {
  const std::vector<int32_t> prompt{0, static_cast<int32_t>(vocabulary - 1), static_cast<int32_t>(vocabulary / 2)};
  GenerateRequest request;
  request.handle = handle;
  request.tokens = prompt;
  request.max_tokens = 3;
  request.alternatives = static_cast<int>(std::min<uint64_t>(2, vocabulary));
  tried([&] {
    const std::shared_ptr<Generation> generation = engine.generate(request);
    for (TokenBatch batch; generation->next(batch);) {
      for (const int32_t id : batch.ids)
        if (id < 0 || static_cast<uint64_t>(id) >= vocabulary) wrong("token " + std::to_string(id));
      for (const float value : batch.logprobs)
        if (std::isnan(value)) wrong("a log probability is no number");
    }
    generation->outcome();
  });
  tried([&] {
    for (const float value : engine.score(handle, prompt, 1))
      if (std::isnan(value)) wrong("a score is no number");
  });
}

// Looks at it, reads its vocabulary, plans it, and, where the plan is small, loads it and makes a few tokens.
inline void use(Engine& engine, const std::string& path) {
  ModelInspection inspection;
  if (!tried([&] { inspection = engine.inspect(path); })) return;
  tried([&] {
    const Vocabulary vocabulary = engine.vocabulary(path);
    check_strings(vocabulary.tokens);
    check_strings(vocabulary.merges);
  });
  LoadOptions options;
  options.path = path;
  tried([&] { engine.plan(options); });
  if (!inspection.supported) return;
  options.context_length = 32;
  options.threads = 1;
  MemoryPlan plan;
  if (!tried([&] { plan = engine.plan(options); }) || plan.total > most_loaded) return;
  LoadedModel model;
  if (!tried([&] { model = engine.load(options); })) return;
  // A model is loaded with what was planned for it.
  if (model.plan.total != plan.total)
    wrong("the plan changed from " + std::to_string(plan.total) + " to " + std::to_string(model.plan.total));
  if (inspection.vocabulary_size > 0) make_tokens(engine, model.handle, inspection.vocabulary_size);
  engine.unload(model.handle);
}

}  // namespace halogen::fuzz
