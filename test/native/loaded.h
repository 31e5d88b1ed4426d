// An engine with a tiny model in it, and prompts for it.
#pragma once
#include "native/engine/engine.h"
#include "test/native/maker.h"

namespace halogen::test {

struct Loaded {
  explicit Loaded(const TinyShape& shape = {}, uint64_t context = 0, int threads = 2,
                  const std::string& variant = "reference")
      : file(tiny_llama(shape, 7).bytes()),
        engine({variant, threads, false}),
        model(engine.load({.path = file.path(), .context_length = context})) {}
  ScratchFile file;
  Engine engine;
  LoadedModel model;

  GenerateRequest request(std::vector<int32_t> tokens, uint64_t most = 0) {
    GenerateRequest result;
    result.handle = model.handle;
    result.tokens = std::move(tokens);
    result.max_tokens = most;
    return result;
  }
};

inline std::vector<int32_t> prompt(size_t count, uint64_t seed = 1) {
  Random random(seed);
  std::vector<int32_t> tokens;
  for (size_t i = 0; i < count; ++i) tokens.push_back(static_cast<int32_t>(random.below(96)));
  return tokens;
}

inline std::vector<int32_t> read_all(Generation& generation) {
  std::vector<int32_t> ids;
  for (TokenBatch batch; generation.next(batch);) ids.insert(ids.end(), batch.ids.begin(), batch.ids.end());
  return ids;
}

}  // namespace halogen::test
