#include "native/bench/measure.h"

#include <chrono>
#include <fstream>
#include <future>
#include <limits>
#include <memory>
#include <string>

#include "native/bench/argument.h"

namespace halogen::bench {

namespace {

using Clock = std::chrono::steady_clock;

double milliseconds(Clock::time_point from, Clock::time_point to) {
  return std::chrono::duration<double, std::milli>(to - from).count();
}

}  // namespace

Measured measure(Engine& engine, uint64_t handle, const std::vector<int32_t>& prompt, uint64_t steps) {
  GenerateRequest request;
  request.handle = handle;
  request.tokens = prompt;
  request.max_tokens = steps + 1;
  std::promise<Clock::time_point> arrived;
  std::future<Clock::time_point> arrival = arrived.get_future();
  GenerateCallbacks callbacks;
  callbacks.on_ready = [&arrived] { arrived.set_value(Clock::now()); };

  const Clock::time_point begun = Clock::now();
  const std::shared_ptr<Generation> generation = engine.generate(request, callbacks);
  Measured made;
  TokenBatch batch;
  Clock::time_point first;
  uint64_t before = 1;
  if (generation->poll(batch) == Poll::pending) {
    first = arrival.get();
  } else {
    // Faster than this thread got here: what is there already was not waited for from now on.
    first = Clock::now();
    before = batch.ids.size();
    made.ids = batch.ids;
  }
  while (generation->next(batch)) made.ids.insert(made.ids.end(), batch.ids.begin(), batch.ids.end());
  const Clock::time_point ended = Clock::now();
  const GenerateOutcome outcome = generation->outcome();

  const uint64_t count = made.ids.size();
  const Detail detail{{"promptTokens", prompt.size()},
                      {"wanted", steps + 1},
                      {"made", count},
                      {"reused", outcome.reused},
                      {"before", before}};
  if (outcome.reused > 0) {
    throw Error(code::request_invalid,
                "This is no measurement: " + std::to_string(outcome.reused) + " of " + std::to_string(prompt.size()) +
                    " prompt tokens were computed before.",
                "Begin each prompt with another token.", detail);
  }
  if (count != steps + 1) {
    throw Error(code::request_invalid,
                "This is no measurement: it ended (" + outcome.cause + ") after " + std::to_string(count) + " of " +
                    std::to_string(steps + 1) + " tokens.",
                "Give it a larger --context.", detail);
  }
  made.prefill_milliseconds = milliseconds(begun, first);
  if (steps > 0 && before < count) {
    const double share = static_cast<double>(steps) / static_cast<double>(count - before);
    made.decode_milliseconds = milliseconds(first, ended) * share;
  }
  if (made.prefill_milliseconds <= 0 || (steps > 0 && made.decode_milliseconds <= 0)) {
    throw Error(code::request_invalid,
                "This is no measurement: " + std::to_string(before) + " of " + std::to_string(count) +
                    " tokens were there before the clock moved.",
                "Ask for more tokens.", detail);
  }
  return made;
}

std::vector<int32_t> read_ids(const std::string& path) {
  std::ifstream file(path);
  if (!file) throw Error(code::file_unreadable, path + " cannot be read.", "It should hold token ids.");
  std::vector<int32_t> ids;
  for (std::string word; file >> word;)
    ids.push_back(static_cast<int32_t>(whole(path, word, 0, std::numeric_limits<int32_t>::max())));
  if (ids.empty())
    throw Error(code::request_invalid, path + " holds no token ids.", "Whole numbers between white space.");
  return ids;
}

}  // namespace halogen::bench
