// The engine as its caller sees it: streaming, back-pressure, cancelling in every phase, reuse, several requests,
// closing.
#include "native/engine/engine.h"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <condition_variable>
#include <filesystem>
#include <future>
#include <thread>

#include "test/native/check.h"
#include "test/native/loaded.h"
#include "test/native/maker.h"

using namespace halogen;
using namespace halogen::test;

namespace {

// Large enough that a prefill of `context` tokens takes seconds in the reference kernels.
TinyShape slow() {
  return {.embedding = 256,
          .heads = 8,
          .kv_heads = 8,
          .head_dim = 32,
          .inner = 1024,
          .layers = 8,
          .context = 4096,
          .rotated = 32};
}

double seconds_since(std::chrono::steady_clock::time_point begin) {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
}

}  // namespace

TEST(engine_generates_and_counts) {
  Loaded loaded;
  const auto generation = loaded.engine.generate(loaded.request(prompt(20), 30));
  const std::vector<int32_t> ids = read_all(*generation);
  const GenerateOutcome outcome = generation->outcome();
  EQUAL(ids.size(), 30u);
  EQUAL(outcome.cause, "length");
  EQUAL(outcome.stop_token, -1);
  EQUAL(outcome.prompt_tokens, 20u);
  EQUAL(outcome.reused, 0u);
  EQUAL(outcome.recomputed, 20u);
  EQUAL(outcome.generated_tokens, 30u);
  CHECK(outcome.prefill_milliseconds > 0 && outcome.decode_milliseconds > 0);
  TokenBatch batch;
  CHECK(!generation->next(batch));
}

TEST(engine_stops_at_tokens_and_at_the_context) {
  Loaded loaded({}, 64);
  const std::vector<int32_t> ids = read_all(*loaded.engine.generate(loaded.request(prompt(20))));
  EQUAL(ids.size(), 44u);
  GenerateRequest request = loaded.request(prompt(20));
  EQUAL(
      [&] {
        const auto g = loaded.engine.generate(request);
        read_all(*g);
        return g->outcome().cause;
      }(),
      "context");
  // The first token that did not occur before it ends the reply and is not delivered.
  const auto first_end = std::find(ids.begin(), ids.end(), ids[5]);
  request.stop_tokens = {ids[5]};
  const auto stopped = loaded.engine.generate(request);
  EQUAL(read_all(*stopped).size(), static_cast<size_t>(first_end - ids.begin()));
  EQUAL(stopped->outcome().cause, "stop_token");
  EQUAL(stopped->outcome().stop_token, ids[5]);
}

TEST(engine_reuses_prefixes_with_the_same_tokens) {
  Loaded fresh, kept;
  const std::vector<int32_t> first = prompt(100);
  const auto one = kept.engine.generate(kept.request(first, 20));
  const std::vector<int32_t> reply = read_all(*one);
  std::vector<int32_t> longer = first;
  longer.insert(longer.end(), reply.begin(), reply.end());
  const std::vector<int32_t> more = prompt(15, 4);
  longer.insert(longer.end(), more.begin(), more.end());

  const auto next = kept.engine.generate(kept.request(longer, 20));
  const std::vector<int32_t> continued = read_all(*next);
  EQUAL(next->outcome().reused, 119u);  // all but the last reply token, which was never computed
  EQUAL(next->outcome().recomputed, 16u);
  CHECK(continued == read_all(*fresh.engine.generate(fresh.request(longer, 20))));

  const auto again = kept.engine.generate(kept.request(first, 20));  // regenerate: fork inside a page
  CHECK(read_all(*again) == reply);
  EQUAL(again->outcome().reused, 99u);
  const auto back = kept.engine.generate(kept.request(longer, 20));  // the other branch is still there
  CHECK(read_all(*back) == continued);
  EQUAL(back->outcome().reused, 134u);
}

TEST(engine_same_seed_same_tokens_and_fork) {
  Loaded loaded;
  GenerateRequest request = loaded.request(prompt(30), 40);
  request.sampling.temperature = 20;  // the random model is very sure of itself
  request.sampling.top_k = 40;
  request.sampling.top_p = 0.999;
  request.sampling.seed = 5;
  const std::vector<int32_t> straight = read_all(*loaded.engine.generate(request));
  CHECK(read_all(*loaded.engine.generate(request)) == straight);
  GenerateRequest forked = request;
  forked.tokens.insert(forked.tokens.end(), straight.begin(), straight.begin() + 15);
  forked.max_tokens = 25;
  CHECK(read_all(*loaded.engine.generate(forked)) == std::vector<int32_t>(straight.begin() + 15, straight.end()));
  request.sampling.seed = 6;
  CHECK(read_all(*loaded.engine.generate(request)) != straight);
  request.sampling.seed.reset();
  const auto unseeded = loaded.engine.generate(request);
  const std::vector<int32_t> ids = read_all(*unseeded);
  request.sampling.seed = unseeded->outcome().seed;
  CHECK(read_all(*loaded.engine.generate(request)) == ids);
}

TEST(engine_reports_probabilities) {
  Loaded loaded;
  GenerateRequest request = loaded.request(prompt(10), 5);
  request.alternatives = 3;
  const auto generation = loaded.engine.generate(request);
  std::vector<float> logprobs, alternatives;
  std::vector<int32_t> ids, alternative_ids;
  for (TokenBatch batch; generation->next(batch);) {
    ids.insert(ids.end(), batch.ids.begin(), batch.ids.end());
    logprobs.insert(logprobs.end(), batch.logprobs.begin(), batch.logprobs.end());
    alternatives.insert(alternatives.end(), batch.alternative_logprobs.begin(), batch.alternative_logprobs.end());
    alternative_ids.insert(alternative_ids.end(), batch.alternative_ids.begin(), batch.alternative_ids.end());
  }
  EQUAL(ids.size(), 5u);
  EQUAL(logprobs.size(), 5u);
  EQUAL(alternatives.size(), 15u);
  std::vector<int32_t> all = request.tokens;
  all.insert(all.end(), ids.begin(), ids.end());
  const std::vector<float> scores = loaded.engine.score(loaded.model.handle, all, 9);
  for (size_t i = 0; i < 5; ++i) {
    EQUAL(alternative_ids[3 * i], ids[i]);  // greedy takes the best
    EQUAL(alternatives[3 * i], logprobs[i]);
    CHECK(alternatives[3 * i] >= alternatives[3 * i + 1] && alternatives[3 * i + 1] >= alternatives[3 * i + 2]);
    CHECK(std::abs(scores[i * 96 + static_cast<size_t>(ids[i])] - logprobs[i]) < 1e-3f);
  }
}

TEST(engine_refuses_bad_requests) {
  Loaded loaded({}, 64);
  const auto attempt = [&](const std::string& code, auto&& change) {
    GenerateRequest request = loaded.request(prompt(10), 5);
    change(request);
    return THROWS(code, loaded.engine.generate(request));
  };
  const Error long_prompt = attempt("context.exceeded", [](GenerateRequest& r) { r.tokens = prompt(64); });
  EQUAL(number(long_prompt, "tokens"), 64);
  EQUAL(number(long_prompt, "contextLength"), 64);
  EQUAL(number(attempt("request.invalid", [](GenerateRequest& r) { r.tokens[3] = 96; }), "index"), 3);
  attempt("request.invalid", [](GenerateRequest& r) { r.tokens[3] = -1; });
  attempt("request.invalid", [](GenerateRequest& r) { r.tokens.clear(); });
  attempt("request.invalid", [](GenerateRequest& r) { r.stop_tokens = {1000}; });
  attempt("request.invalid", [](GenerateRequest& r) { r.alternatives = -1; });
  attempt("request.invalid", [](GenerateRequest& r) { r.sampling.temperature = -1; });
  attempt("model.not_loaded", [](GenerateRequest& r) { r.handle = 99; });
  THROWS("request.invalid", loaded.engine.score(loaded.model.handle, prompt(5), 5));
  THROWS("context.exceeded", loaded.engine.score(loaded.model.handle, prompt(65), 0));
  THROWS("model.not_loaded", loaded.engine.unload(7));
}

TEST(engine_waits_for_a_slow_reader_and_serves_others_meanwhile) {
  Loaded loaded;
  const auto slow_reader = loaded.engine.generate(loaded.request(prompt(10), 200));
  const auto other = loaded.engine.generate(loaded.request(prompt(12, 3), 150));
  EQUAL(read_all(*other).size(), 150u);  // though nobody reads the first
  TokenBatch batch;
  CHECK(slow_reader->next(batch));
  CHECK(batch.ids.size() <= 32);  // it was not run far ahead
  size_t count = batch.ids.size();
  while (slow_reader->next(batch)) count += batch.ids.size();
  EQUAL(count, 200u);
}

TEST(engine_wakes_a_polling_reader) {
  Loaded loaded;
  std::mutex mutex;
  std::condition_variable ready;
  int wakes = 0;
  GenerateCallbacks callbacks;
  callbacks.on_ready = [&] {
    const std::lock_guard lock(mutex);
    ++wakes;
    ready.notify_all();
  };
  uint64_t done = 0, total = 0;
  callbacks.on_progress = [&](const EngineProgress& progress) {
    EQUAL(progress.phase, "prefill");
    done = progress.done;
    total = progress.total;
  };
  const auto generation = loaded.engine.generate(loaded.request(prompt(20), 25), callbacks);
  size_t count = 0;
  int pending = 0;
  while (true) {
    TokenBatch batch;
    int before;
    {
      const std::lock_guard lock(mutex);
      before = wakes;
    }
    const Poll state = generation->poll(batch);
    if (state == Poll::ended) break;
    count += batch.ids.size();
    if (state == Poll::ready) continue;
    ++pending;
    std::unique_lock lock(mutex);
    CHECK(ready.wait_for(lock, std::chrono::seconds(30), [&] { return wakes > before; }));
  }
  EQUAL(count, 25u);
  CHECK(pending >= 1);
  EQUAL(done, 20u);
  EQUAL(total, 20u);
}

TEST(engine_cancels_in_the_middle_of_a_prefill) {
  Loaded loaded(slow());
  const auto begin = std::chrono::steady_clock::now();
  const auto whole = loaded.engine.generate(loaded.request(prompt(600), 1));
  read_all(*whole);
  const double full = seconds_since(begin);
  const auto again = loaded.engine.generate(loaded.request(prompt(600, 8), 1));
  const auto cancelled = std::chrono::steady_clock::now();
  again->cancel();
  CHECK(read_all(*again).empty());
  EQUAL(again->outcome().cause, "cancelled");
  CHECK(seconds_since(cancelled) < full / 2);
}

TEST(engine_cancels_while_decoding_and_keeps_what_was_made) {
  Loaded loaded;
  const auto generation = loaded.engine.generate(loaded.request(prompt(10), 200));
  TokenBatch batch;
  CHECK(generation->next(batch));
  size_t count = batch.ids.size();
  generation->cancel();
  while (generation->next(batch)) count += batch.ids.size();
  const GenerateOutcome outcome = generation->outcome();
  EQUAL(outcome.cause, "cancelled");
  EQUAL(outcome.generated_tokens, count);
  CHECK(count < 200);
}

TEST(engine_cancels_a_load_and_frees_everything) {
  const ScratchFile file(tiny_llama(slow(), 3).bytes());
  Engine engine({"reference", 1, false});
  const CancelToken cancel;
  uint64_t last = 0;
  const Error error = THROWS("request.cancelled", engine.load(
                                                      {.path = file.path()},
                                                      [&](const EngineProgress& progress) {
                                                        last = progress.done;
                                                        cancel.cancel();
                                                      },
                                                      cancel));
  CHECK(last > 0);
  CHECK(number(error, "done") < number(error, "total"));
  for (const MemoryPool& pool : engine.memory()) {
    if (pool.name == "weights" || pool.name == "kv" || pool.name == "scratch") EQUAL(pool.used, 0u);
  }
  engine.load({.path = file.path(), .context_length = 256});
}

TEST(engine_reads_embeddings_from_a_file_that_may_go_but_not_change) {
  Loaded loaded;
  const auto before = read_all(*loaded.engine.generate(loaded.request(prompt(20), 10)));
  const std::string path = loaded.file.path();
  std::filesystem::rename(path, path + ".moved");
  CHECK(read_all(*loaded.engine.generate(loaded.request(prompt(20), 10))) == before);
  std::filesystem::rename(path + ".moved", path);
  std::filesystem::resize_file(path, std::filesystem::file_size(path) - 4096);
  for (int i = 0; i < 3; ++i) {
    const auto cut = loaded.engine.generate(loaded.request(prompt(30, 5), 10));
    const Error error = THROWS("file.unreadable", read_all(*cut));
    CHECK(error.message().find("changed") != std::string::npos);
  }
  for (const MemoryPool& pool : loaded.engine.memory()) {
    if (pool.name == "kv") CHECK(pool.used <= *pool.limit);
  }
}

TEST(engine_long_requests_share_a_small_context) {
  // Two requests that together exceed the pages: both finish, each with the tokens it would have alone.
  Loaded loaded({}, 128);
  const auto alone_first = read_all(*loaded.engine.generate(loaded.request(prompt(60, 1), 60)));
  const auto alone_second = read_all(*loaded.engine.generate(loaded.request(prompt(70, 2), 50)));
  const auto alone_third = read_all(*loaded.engine.generate(loaded.request(prompt(80, 3), 40)));
  const auto first = loaded.engine.generate(loaded.request(prompt(60, 1), 60));
  const auto second = loaded.engine.generate(loaded.request(prompt(70, 2), 50));
  const auto third = loaded.engine.generate(loaded.request(prompt(80, 3), 40));
  auto reader = std::async(std::launch::async, [&] { return read_all(*third); });
  auto other = std::async(std::launch::async, [&] { return read_all(*second); });
  CHECK(read_all(*first) == alone_first);
  CHECK(other.get() == alone_second);
  CHECK(reader.get() == alone_third);
}

TEST(engine_pages_of_a_reader_that_never_reads_are_given_up) {
  // The older request fills its buffer and waits for a reader who does not come; the younger needs its pages.
  Loaded loaded({}, 192);
  const auto ignored = loaded.engine.generate(loaded.request(prompt(100, 1), 80));
  const auto wanted = loaded.engine.generate(loaded.request(prompt(120, 2), 60));
  EQUAL(read_all(*wanted).size(), 60u);
  EQUAL(read_all(*ignored).size(), 80u);
}

TEST(engine_unloads_while_generating) {
  Loaded loaded;
  const auto generation = loaded.engine.generate(loaded.request(prompt(10), 200));
  TokenBatch batch;
  CHECK(generation->next(batch));
  loaded.engine.unload(loaded.model.handle);
  while (generation->next(batch)) continue;
  EQUAL(generation->outcome().cause, "cancelled");
  THROWS("model.not_loaded", loaded.engine.generate(loaded.request(prompt(10), 5)));
  const LoadedModel again = loaded.engine.load({.path = loaded.file.path()});
  CHECK(again.handle != loaded.model.handle);
}

TEST(engine_closes_at_any_moment) {
  const ScratchFile file(tiny_llama(slow(), 3).bytes());
  for (int round = 0; round < 12; ++round) {
    auto engine = std::make_unique<Engine>(EngineOptions{"reference", 2, false});
    std::shared_ptr<Generation> generation;
    std::promise<void> reached;
    std::atomic<bool> once{false};
    const auto reach = [&] {
      if (!once.exchange(true)) reached.set_value();
    };
    // Rounds end the engine during a load, a prefill, a decode with a reader that waits, and a scoring run.
    auto work = std::async(std::launch::async, [&, phase = round % 4] {
      try {
        const LoadedModel model =
            engine->load({.path = file.path(), .context_length = 1024}, [&](const EngineProgress&) {
              if (phase == 0) reach();
            });
        if (phase == 3) {
          reach();
          engine->score(model.handle, prompt(300), 0);
          return;
        }
        GenerateRequest request;
        request.handle = model.handle;
        request.tokens = prompt(phase == 1 ? 900 : 4);
        generation = engine->generate(request);
        TokenBatch batch;
        if (phase == 1) reach();
        while (generation->next(batch)) reach();
        EQUAL(generation->outcome().cause, "cancelled");
      } catch (const Error& error) {
        reach();
        CHECK(error.code() == "request.cancelled" || error.code() == "engine.unavailable" ||
              error.code() == "model.not_loaded");
      }
    });
    reached.get_future().wait();
    engine->close();
    THROWS("engine.unavailable", engine->info());
    work.get();
    engine.reset();
    if (generation) {
      generation->cancel();  // outlives its engine
      EQUAL(generation->outcome().cause, "cancelled");
    }
  }
}

TEST(engine_two_engines_and_two_models) {
  Loaded first, second;
  const LoadedModel other = first.engine.load({.path = second.file.path(), .context_length = 64});
  CHECK(other.handle != first.model.handle);
  const auto a = first.engine.generate(first.request(prompt(10), 20));
  const auto b = second.engine.generate(second.request(prompt(10), 20));
  GenerateRequest request = first.request(prompt(10), 20);
  request.handle = other.handle;
  const auto c = first.engine.generate(request);
  const std::vector<int32_t> ids = read_all(*a);
  CHECK(ids == read_all(*b));
  CHECK(ids == read_all(*c));
}
