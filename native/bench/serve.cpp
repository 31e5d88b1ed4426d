#include "native/bench/serve.h"

#include <chrono>
#include <cstdint>
#include <cstdio>
#include <fstream>
#include <iostream>
#include <sstream>
#include <string>
#include <vector>

namespace halogen::bench {

namespace {

using Clock = std::chrono::steady_clock;

double milliseconds(Clock::time_point from, Clock::time_point to) {
  return std::chrono::duration<double, std::milli>(to - from).count();
}

std::vector<int32_t> read_ids(const std::string& path) {
  std::ifstream file(path);
  std::vector<int32_t> ids;
  for (int32_t id; file >> id;) ids.push_back(id);
  if (ids.empty()) throw Error(code::request_invalid, path + " holds no token ids.");
  return ids;
}

void time(Engine& engine, uint64_t handle, const std::vector<int32_t>& prompt, uint64_t steps) {
  GenerateRequest request;
  request.handle = handle;
  request.tokens = prompt;
  request.max_tokens = steps + 1;
  const Clock::time_point begun = Clock::now();
  Clock::time_point first = begun;
  std::vector<int32_t> ids;
  const std::shared_ptr<Generation> generation = engine.generate(request);
  size_t with_first = 0;
  for (TokenBatch batch; generation->next(batch);) {
    if (ids.empty()) {
      first = Clock::now();
      with_first = batch.ids.size();
    }
    ids.insert(ids.end(), batch.ids.begin(), batch.ids.end());
  }
  const Clock::time_point ended = Clock::now();
  const GenerateOutcome outcome = generation->outcome();
  if (outcome.reused > 0 || ids.size() != steps + 1 || (steps > 0 && ids.size() == with_first)) {
    throw Error(code::request_invalid, std::to_string(outcome.reused) + " tokens were reused and " +
                                           std::to_string(ids.size()) + " made: this is no measurement of " +
                                           std::to_string(prompt.size()) + " and " + std::to_string(steps + 1) + ".");
  }
  // Tokens that arrived together with the first were not waited for: the time per token is that of the others.
  const double share = steps == 0 ? 0 : static_cast<double>(steps) / static_cast<double>(ids.size() - with_first);
  std::printf("{\"prefillMilliseconds\":%.3f,\"decodeMilliseconds\":%.3f,\"ids\":[", milliseconds(begun, first),
              milliseconds(first, ended) * share);
  for (size_t i = 0; i < ids.size(); ++i) std::printf(i == 0 ? "%d" : ",%d", ids[i]);
  std::printf("]}\n");
}

void score(Engine& engine, uint64_t handle, const std::vector<int32_t>& tokens, uint64_t from, const std::string& out) {
  const std::vector<float> rows = engine.score(handle, tokens, from);
  std::ofstream file(out, std::ios::binary);
  file.write(reinterpret_cast<const char*>(rows.data()), static_cast<std::streamsize>(rows.size() * sizeof(float)));
  if (!file.flush()) throw Error(code::file_unreadable, out + " cannot be written.");
  const uint64_t count = tokens.size() - from;
  std::printf("{\"rows\":%llu,\"width\":%llu}\n", static_cast<unsigned long long>(count),
              static_cast<unsigned long long>(rows.size() / count));
}

}  // namespace

void serve(Engine& engine, const LoadedModel& model, const ModelInspection& inspection, double load_milliseconds) {
  std::printf(
      "{\"ready\":true,\"version\":\"Halogen %s\",\"kernels\":\"%s\",\"loadMilliseconds\":%.2f,\"vocabulary\":%llu,"
      "\"trainedContext\":%llu}\n",
      engine.info().version.c_str(), engine.info().devices[0].reason.c_str(), load_milliseconds,
      static_cast<unsigned long long>(inspection.vocabulary_size),
      static_cast<unsigned long long>(inspection.context_length));
  std::fflush(stdout);
  for (std::string line; std::getline(std::cin, line);) {
    std::istringstream words(line);
    std::string what, file, out;
    uint64_t number = 0;
    const bool understood = static_cast<bool>(words >> what >> file >> number);
    if (understood && what == "time")
      time(engine, model.handle, read_ids(file), number);
    else if (understood && what == "score" && words >> out)
      score(engine, model.handle, read_ids(file), number, out);
    else
      throw Error(code::request_invalid, "Not understood: " + line);
    std::fflush(stdout);
  }
}

}  // namespace halogen::bench
