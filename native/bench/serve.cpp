#include "native/bench/serve.h"

#include <cstdint>
#include <cstdio>
#include <fstream>
#include <iostream>
#include <sstream>
#include <string>
#include <vector>

#include "native/bench/measure.h"
#include "native/bench/report.h"

namespace halogen::bench {

namespace {

void time(Engine& engine, uint64_t handle, const std::vector<int32_t>& prompt, uint64_t steps) {
  const Measured made = measure(engine, handle, prompt, steps);
  std::printf("{\"prefillMilliseconds\":%.3f,\"decodeMilliseconds\":%.3f,\"ids\":[", made.prefill_milliseconds,
              made.decode_milliseconds);
  for (size_t i = 0; i < made.ids.size(); ++i) std::printf(i == 0 ? "%d" : ",%d", made.ids[i]);
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
      "{\"ready\":true,\"version\":\"Halogen %s\",\"kernels\":%s,\"kv\":\"%s\",\"loadMilliseconds\":%.2f,\"vocabulary\":%llu,"
      "\"trainedContext\":%llu}\n",
      engine.info().version.c_str(), quoted(engine.info().devices[0].reason).c_str(), model.plan.kv_type.c_str(), load_milliseconds,
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
