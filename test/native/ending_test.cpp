// How a reply ends: stop sequences, a least length, and masks that are waited for.
#include <algorithm>
#include <condition_variable>
#include <mutex>

#include "native/engine/engine.h"
#include "test/native/check.h"
#include "test/native/loaded.h"

using namespace halogen;
using namespace halogen::test;

TEST(engine_stops_at_sequences_and_holds_them_back) {
  Loaded loaded({}, 128);
  GenerateRequest request = loaded.request(prompt(20), 40);
  request.sampling.temperature = 20;  // varied tokens
  request.sampling.seed = 3;
  const std::vector<int32_t> ids = read_all(*loaded.engine.generate(request));
  const std::vector<int32_t> sequence{ids[10], ids[11], ids[12]};
  const size_t place =
      static_cast<size_t>(std::search(ids.begin(), ids.end(), sequence.begin(), sequence.end()) - ids.begin());
  // A beginning that goes on otherwise is delivered all the same.
  request.stop_sequences = {{ids[2], ids[3], (ids[4] + 1) % 96}, sequence};
  const auto stopped = loaded.engine.generate(request);
  const std::vector<int32_t> before = read_all(*stopped);
  CHECK(before == std::vector<int32_t>(ids.begin(), ids.begin() + static_cast<std::ptrdiff_t>(place)));
  EQUAL(stopped->outcome().cause, "stop_sequence");
  EQUAL(stopped->outcome().stop_sequence, 1);
  EQUAL(stopped->outcome().stop_token, -1);
  EQUAL(stopped->outcome().generated_tokens, place);
  // The end comes in the middle of a sequence: what was held is delivered.
  request.stop_sequences = {{ids[38], ids[39], 0}};
  CHECK(read_all(*loaded.engine.generate(request)) == ids);
  request.stop_sequences = {{ids[39]}};
  const auto one = loaded.engine.generate(request);
  EQUAL(read_all(*one).size(), static_cast<size_t>(std::ranges::find(ids, ids[39]) - ids.begin()));
  request.stop_sequences = {{}};
  THROWS("request.invalid", loaded.engine.generate(request));
  request.stop_sequences = {{96}};
  THROWS("request.invalid", loaded.engine.generate(request));
}

namespace {

// Allows the tokens below `limit`.
std::vector<uint32_t> mask_below(int32_t limit) {
  std::vector<uint32_t> mask(3, 0);
  for (int32_t id = 0; id < limit; ++id) mask[static_cast<size_t>(id / 32)] |= 1u << (id % 32);
  return mask;
}

}  // namespace

TEST(engine_constrained_tokens_wait_for_their_mask) {
  Loaded loaded({}, 256);
  GenerateRequest request = loaded.request(prompt(20), 6);
  request.constrained = true;
  std::mutex mutex;
  std::vector<int32_t> sampled;
  std::condition_variable changed;
  GenerateCallbacks callbacks;
  callbacks.on_sampled = [&](int32_t id) {
    const std::lock_guard lock(mutex);
    sampled.push_back(id);
    changed.notify_all();
  };
  const auto held = loaded.engine.generate(request, callbacks);
  // Others go on while it waits, and their passes do not touch what it waits with.
  for (int i = 0; i < 3; ++i) EQUAL(read_all(*loaded.engine.generate(loaded.request(prompt(30, 3), 20))).size(), 20u);
  {
    const std::lock_guard lock(mutex);
    EQUAL(sampled.size(), 0u);
  }
  for (size_t step = 0; step < 6; ++step) {
    held->allow(mask_below(static_cast<int32_t>(5 + step)));
    std::unique_lock lock(mutex);
    changed.wait(lock, [&] { return sampled.size() > step; });
    CHECK(sampled[step] < static_cast<int32_t>(5 + step));
  }
  CHECK(read_all(*held) == sampled);
  EQUAL(held->outcome().cause, "length");

  // The same tokens as scoring says: the likeliest of the allowed ones.
  std::vector<int32_t> tokens = request.tokens;
  for (size_t step = 0; step < 6; ++step) {
    const std::vector<float> scores = loaded.engine.score(loaded.model.handle, tokens, tokens.size() - 1);
    const auto best = std::max_element(scores.begin(), scores.begin() + static_cast<std::ptrdiff_t>(5 + step));
    EQUAL(sampled[step], static_cast<int32_t>(best - scores.begin()));
    tokens.push_back(sampled[step]);
  }
}

TEST(engine_constrained_waits_end_with_the_grammar_cancel_and_close) {
  Loaded loaded({}, 128);
  GenerateRequest request = loaded.request(prompt(20), 50);
  request.constrained = true;
  const auto done = loaded.engine.generate(request);
  done->allow({});
  EQUAL(read_all(*done).size(), 0u);
  EQUAL(done->outcome().cause, "grammar");
  const auto cancelled = loaded.engine.generate(request);
  cancelled->cancel();
  EQUAL(cancelled->outcome().cause, "cancelled");
  const auto masked = loaded.engine.generate(request);
  masked->allow(std::vector<uint32_t>(3, 0));
  THROWS("request.invalid", masked->outcome());
  const auto waiting = loaded.engine.generate(request);
  loaded.engine.close();
  EQUAL(waiting->outcome().cause, "cancelled");
}

TEST(engine_reaches_the_least_length_before_it_stops) {
  Loaded loaded({}, 128);
  GenerateRequest request = loaded.request(prompt(20), 30);
  const std::vector<int32_t> ids = read_all(*loaded.engine.generate(request));
  request.stop_tokens = {ids[0]};
  EQUAL(read_all(*loaded.engine.generate(request)).size(), 0u);
  request.min_tokens = 7;
  const std::vector<int32_t> longer = read_all(*loaded.engine.generate(request));
  CHECK(longer.size() >= 7);
  CHECK(std::ranges::find(longer, ids[0]) == longer.end());
  request.stop_tokens = {};
  request.stop_sequences = {{ids[0], ids[1]}};
  request.min_tokens = 3;
  CHECK(read_all(*loaded.engine.generate(request)).size() >= 3);
}
