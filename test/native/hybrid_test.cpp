// Models with recurrent layers as the engine's caller sees them: what is reused is true, and changes no token.
#include <algorithm>
#include <cmath>
#include <future>

#include "native/engine/engine.h"
#include "test/native/check.h"
#include "test/native/hybrid.h"

using namespace halogen;
using namespace halogen::test;

namespace {

struct Loaded {
  explicit Loaded(const HybridShape& shape = {}, const char* variant = "reference")
      : file(tiny_hybrid(shape, 5).bytes()), engine({variant, 2, false}), handle(load()) {}
  uint64_t load() { return engine.load({.path = file.path(), .kv_type = "f32"}).handle; }

  std::shared_ptr<Generation> generate(std::vector<int32_t> tokens, uint64_t most) {
    GenerateRequest request;
    request.handle = handle;
    request.tokens = std::move(tokens);
    request.max_tokens = most;
    return engine.generate(request);
  }

  ScratchFile file;
  Engine engine;
  uint64_t handle;
};

std::vector<int32_t> prompt(size_t count, uint64_t seed = 1) {
  Random random(seed);
  std::vector<int32_t> tokens;
  for (size_t i = 0; i < count; ++i) tokens.push_back(static_cast<int32_t>(random.below(96)));
  return tokens;
}

std::vector<int32_t> read_all(Generation& generation) {
  std::vector<int32_t> ids;
  for (TokenBatch batch; generation.next(batch);) ids.insert(ids.end(), batch.ids.begin(), batch.ids.end());
  return ids;
}

std::vector<int32_t> joined(std::vector<int32_t> first, const std::vector<int32_t>& second) {
  first.insert(first.end(), second.begin(), second.end());
  return first;
}

// Tokens of a model that has computed nothing before.
std::vector<int32_t> afresh(const std::vector<int32_t>& tokens, uint64_t most, const char* variant = "reference") {
  Loaded loaded({}, variant);
  return read_all(*loaded.generate(tokens, most));
}

double furthest(const std::vector<float>& a, const std::vector<float>& b) {
  CHECK(a.size() == b.size());
  double most = 0;
  for (size_t i = 0; i < a.size(); ++i) {
    const double distance = std::abs(static_cast<double>(a[i]) - static_cast<double>(b[i]));
    if (!(distance <= most)) most = distance;
  }
  return most;
}

}  // namespace

TEST(hybrid_continues_from_where_its_state_stands) {
  for (const char* variant : {"reference", ""}) {
    Loaded loaded({}, variant);
    const std::vector<int32_t> first = prompt(50);
    const auto one = loaded.generate(first, 20);
    const std::vector<int32_t> reply = read_all(*one);
    EQUAL(one->outcome().reused, 0u);
    CHECK(reply == afresh(first, 20, variant));

    const auto again = loaded.generate(first, 20);  // from before the last token of the prompt
    CHECK(read_all(*again) == reply);
    EQUAL(again->outcome().reused, 49u);
    EQUAL(again->outcome().recomputed, 1u);

    const std::vector<int32_t> longer = joined(joined(first, reply), prompt(12, 4));
    const auto next = loaded.generate(longer, 20);  // from the end of the reply, whose last token was never computed
    const std::vector<int32_t> continued = read_all(*next);
    EQUAL(next->outcome().reused, 69u);
    EQUAL(next->outcome().recomputed, 13u);
    CHECK(continued == afresh(longer, 20, variant));

    const auto back = loaded.generate(joined(first, {3, 1, 4}), 5);  // another branch: from the end of the first prompt
    CHECK(read_all(*back) == afresh(joined(first, {3, 1, 4}), 5, variant));
    EQUAL(back->outcome().reused, 49u);
    const auto forth = loaded.generate(longer, 20);
    CHECK(read_all(*forth) == continued);
    EQUAL(forth->outcome().reused, 81u);
  }
}

TEST(hybrid_rewritten_end_of_a_prompt) {
  // The next prompt parts from this one within what a template puts behind the last message.
  Loaded loaded;
  const std::vector<int32_t> first = prompt(60);
  read_all(*loaded.generate(first, 10));
  std::vector<int32_t> rewritten(first.begin(), first.end() - 6);
  rewritten = joined(rewritten, prompt(30, 9));
  const auto next = loaded.generate(rewritten, 10);
  CHECK(read_all(*next) == afresh(rewritten, 10));
  EQUAL(next->outcome().reused, 44u);
  EQUAL(next->outcome().recomputed, 40u);
  // Before every kept state there is nothing to go on from.
  std::vector<int32_t> other(first.begin(), first.begin() + 40);
  other = joined(other, {7});
  const auto fresh = loaded.generate(other, 3);
  CHECK(read_all(*fresh) == afresh(other, 3));
  EQUAL(fresh->outcome().reused, 0u);
}

TEST(hybrid_a_stopped_prefill_leaves_no_trace) {
  for (const int round : {0, 1, 2, 3}) {
    Loaded loaded({.context = 2048});
    const std::vector<int32_t> first = prompt(40);
    const std::vector<int32_t> reply = read_all(*loaded.generate(first, 10));
    const std::vector<int32_t> longer = joined(joined(first, reply), prompt(1500, 2));
    GenerateRequest request;
    request.handle = loaded.handle;
    request.tokens = longer;
    request.max_tokens = 4;
    std::promise<void> begun;
    std::atomic<bool> once{false};
    GenerateCallbacks callbacks;
    callbacks.on_progress = [&](const EngineProgress&) {
      if (!once.exchange(true)) begun.set_value();
    };
    const auto stopped = loaded.engine.generate(request, callbacks);
    if (round > 0) begun.get_future().wait();
    stopped->cancel();
    read_all(*stopped);
    EQUAL(stopped->outcome().cause, "cancelled");
    const auto again = loaded.generate(first, 10);
    CHECK(read_all(*again) == reply);
    EQUAL(again->outcome().reused, 39u);
    const std::vector<int32_t> shorter(longer.begin(), longer.begin() + 600);
    CHECK(read_all(*loaded.generate(shorter, 4)) == read_all(*Loaded({.context = 2048}).generate(shorter, 4)));
  }
}

TEST(hybrid_a_stopped_reply_is_kept) {
  Loaded loaded;
  const std::vector<int32_t> first = prompt(30);
  const std::vector<int32_t> whole = read_all(*loaded.generate(first, 60));
  const auto generation = loaded.generate(first, 200);
  TokenBatch batch;
  std::vector<int32_t> got;
  while (got.size() < 5 && generation->next(batch)) got.insert(got.end(), batch.ids.begin(), batch.ids.end());
  generation->cancel();
  got = joined(got, read_all(*generation));
  EQUAL(generation->outcome().cause, "cancelled");
  const auto on = loaded.generate(joined(first, got), 10);
  const std::vector<int32_t> more = read_all(*on);
  CHECK(on->outcome().reused >= first.size() + got.size() - 1);
  CHECK(joined(got, more) ==
        std::vector<int32_t>(whole.begin(), whole.begin() + static_cast<std::ptrdiff_t>(got.size() + more.size())));
}

TEST(hybrid_more_requests_than_states) {
  Loaded loaded;
  std::vector<std::shared_ptr<Generation>> running;
  for (uint64_t i = 0; i < 14; ++i) running.push_back(loaded.generate(prompt(8 + i, 20 + i), 6));
  std::vector<std::future<std::vector<int32_t>>> readers;
  for (const auto& each : running)
    readers.push_back(std::async(std::launch::async, [&each] { return read_all(*each); }));
  for (uint64_t i = 0; i < 14; ++i) CHECK(readers[i].get() == afresh(prompt(8 + i, 20 + i), 6));
  for (const MemoryPool& pool : loaded.engine.memory()) {
    if (pool.name == "recurrent" || pool.name == "checkpoints") CHECK(pool.used <= *pool.limit && pool.used > 0);
  }
}

TEST(hybrid_plan_is_exact) {
  Loaded loaded;
  const MemoryPlan plan = loaded.engine.plan({.path = loaded.file.path(), .kv_type = "f32"});
  // Three layers, each with 4 heads of 16 x 16 and three rows of 128 channels, in floats.
  const uint64_t one = 3 * (4 * 16 * 16 + 3 * 128) * 4;
  EQUAL(plan.recurrent, 2 * one);
  EQUAL(plan.checkpoints, 6 * one);
  for (const MemoryPool& pool : loaded.engine.memory()) {
    if (pool.name == "recurrent") EQUAL(*pool.limit, plan.recurrent);
    if (pool.name == "checkpoints") EQUAL(*pool.limit, plan.checkpoints);
  }
}

TEST(hybrid_plan_that_does_not_fit_names_the_states) {
  const ScratchFile file(tiny_hybrid({.context = int64_t{1} << 30}, 5).bytes());
  Engine engine({"reference", 1, false});
  const Error error = THROWS("model.too_large",
                             engine.load({.path = file.path(), .context_length = uint64_t{1} << 30, .kv_type = "f32"}));
  CHECK(error.message().find(", states ") != std::string::npos);
  EQUAL(number(error, "recurrent"), 2 * 3 * (4 * 16 * 16 + 3 * 128) * 4);
}

TEST(hybrid_joined_tensors_are_the_same_model) {
  const std::vector<int32_t> tokens = prompt(40);
  const auto scores = [&](const HybridShape& shape) {
    Loaded loaded(shape);
    return loaded.engine.score(loaded.handle, tokens, 0);
  };
  const std::vector<float> plain = scores({.architecture = "qwen3next"});
  CHECK(furthest(plain, scores({.architecture = "qwen3next", .joined_inputs = true})) == 0);
  CHECK(furthest(plain, scores({.architecture = "qwen3next", .joined_experts = true})) == 0);
  // The order of the value heads is another in the other two.
  CHECK(furthest(scores({.architecture = "qwen35moe"}),
                 scores({.architecture = "qwen35moe", .joined_experts = true})) == 0);
}

TEST(hybrid_layers_that_predict_further_tokens) {
  const std::vector<int32_t> tokens = prompt(20);
  for (const char* architecture : {"qwen35", "qwen35moe"}) {
    Loaded trunk({.architecture = architecture}), both({.architecture = architecture, .predicting = 1});
    CHECK(furthest(trunk.engine.score(trunk.handle, tokens, 0), both.engine.score(both.handle, tokens, 0)) == 0);
  }
  GgufMaker companion = tiny_hybrid({.predicting = 1}, 5);
  std::erase_if(companion.tensors, [](const GgufMaker::Tensor& tensor) {
    return tensor.name.starts_with("blk.") && !tensor.name.starts_with("blk.4.");
  });
  const ScratchFile file(companion.bytes());
  Engine engine({"reference", 1, false});
  const Error error = THROWS("model.missing_tensor", engine.load({.path = file.path()}));
  CHECK(error.message().find("only the layers that draft") != std::string::npos);
  EQUAL(engine.inspect(file.path()).problem, error.message());
}
