// What the engine computes, against a llama written in the plainest form.
#include <algorithm>
#include <cmath>

#include "native/engine/engine.h"
#include "test/native/check.h"
#include "test/native/naive.h"

using namespace halogen;
using namespace halogen::test;

namespace {

std::vector<int32_t> some_tokens(size_t count, int64_t vocabulary, uint64_t seed) {
  Random random(seed);
  std::vector<int32_t> tokens;
  for (size_t i = 0; i < count; ++i)
    tokens.push_back(static_cast<int32_t>(random.below(static_cast<uint64_t>(vocabulary))));
  return tokens;
}

void compare(const TinyShape& shape, size_t count, const std::string& kv_type, int threads, double tolerance) {
  Weights weights;
  const ScratchFile file(tiny_llama(shape, 7, &weights).bytes());
  Engine engine({"reference", threads, false});
  const uint64_t handle = engine.load({.path = file.path(), .kv_type = kv_type}).handle;
  const std::vector<int32_t> tokens = some_tokens(count, shape.vocabulary, 11);
  const std::vector<float> scores = engine.score(handle, tokens, 0);
  EQUAL(scores.size(), count * static_cast<size_t>(shape.vocabulary));
  const auto expected = naive_logits(shape, weights, tokens);
  for (size_t t = 0; t < count; ++t) {
    const std::vector<double> row = log_softmax(expected[t]);
    for (size_t i = 0; i < row.size(); ++i) {
      const double actual = static_cast<double>(scores[t * row.size() + i]);
      if (!(std::abs(actual - row[i]) <= tolerance)) {
        fail("token ", t, " logit ", i, ": ", actual, ", expected ", row[i], " (", kv_type, ", ", threads, " threads)");
      }
    }
  }
}

}  // namespace

TEST(forward_matches_the_plain_model) {
  for (const int threads : {1, 2, 3}) {
    compare({}, 70, "f32", threads, 2e-4);
    compare({}, 70, "f16", threads, 1e-1);
    compare({}, 70, "bf16", threads, 4e-1);
    compare({}, 70, "q8_0", threads, 8e-1);
  }
}

TEST(forward_untied_biased_scaled_rope) {
  compare({.tied = false, .biases = true, .rope_factors = true}, 40, "f32", 2, 2e-4);
  compare({.rope_linear = 4}, 40, "f32", 2, 2e-4);
  compare({.rotated = 8}, 40, "f32", 2, 2e-4);
}

TEST(forward_formats_and_shapes) {
  compare({.matrix_type = 1}, 20, "f32", 2, 2e-4);
  compare({.matrix_type = 8}, 20, "f32", 2, 2e-4);
  compare({.heads = 6, .kv_heads = 2, .head_dim = 32, .rotated = 32}, 20, "f32", 2, 2e-4);
  compare({.heads = 3, .kv_heads = 3, .layers = 1}, 20, "f32", 4, 2e-4);
}

TEST(forward_decodes_what_prefill_predicts) {
  // Greedy tokens made one by one are the maxima of one scoring pass over the result.
  const TinyShape shape;
  const ScratchFile file(tiny_llama(shape, 7).bytes());
  for (const char* variant : {"reference", ""}) {
    Engine engine({variant, 2, false});
    const uint64_t handle = engine.load({.path = file.path(), .kv_type = "f32"}).handle;
    GenerateRequest request;
    request.handle = handle;
    request.tokens = some_tokens(37, shape.vocabulary, 3);
    request.max_tokens = 100;
    const auto generation = engine.generate(request);
    std::vector<int32_t> all = request.tokens;
    for (TokenBatch batch; generation->next(batch);) all.insert(all.end(), batch.ids.begin(), batch.ids.end());
    EQUAL(all.size(), 137u);
    const std::vector<float> scores = engine.score(handle, all, 36);
    const size_t vocabulary = static_cast<size_t>(shape.vocabulary);
    for (size_t t = 37; t < all.size(); ++t) {
      const float* row = scores.data() + (t - 37) * vocabulary;
      const float highest = *std::max_element(row, row + vocabulary);
      CHECK(row[all[t]] > highest - 1e-3f);
    }
  }
}

TEST(forward_token_by_token_over_many_keys) {
  // Keys of one token in parts, shared out over threads, against all tokens in one pass.
  const TinyShape shape{.heads = 6, .kv_heads = 2, .context = 1024};
  const ScratchFile file(tiny_llama(shape, 7).bytes());
  const std::vector<int32_t> tokens = some_tokens(900, shape.vocabulary, 5);
  for (const char* variant : {"reference", ""}) {
    for (const int threads : {2, 5}) {
      Engine engine({variant, threads, false});
      const uint64_t handle = engine.load({.path = file.path(), .kv_type = "f32"}).handle;
      const std::vector<float> whole = engine.score(handle, tokens, 300);
      const auto width = static_cast<size_t>(shape.vocabulary);
      for (size_t t = 300; t < tokens.size(); t += t < 700 ? 37 : 1) {
        engine.score(handle, {tokens.begin(), tokens.begin() + static_cast<std::ptrdiff_t>(t)}, t - 1);
        const std::vector<float> one =
            engine.score(handle, {tokens.begin(), tokens.begin() + static_cast<std::ptrdiff_t>(t) + 1}, t);
        for (size_t i = 0; i < width; ++i) {
          const float expected = whole[(t - 300) * width + i];
          if (!(std::abs(one[i] - expected) <= 1e-3f))
            fail("token ", t, " logit ", i, ": ", one[i], ", expected ", expected, " (", threads, " threads)");
        }
      }
    }
  }
}
