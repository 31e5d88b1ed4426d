// halogen-bench: the engine without Node. Measures prefill and decode of one model, or continues a prompt of token ids
// greedily.
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstring>
#include <fstream>
#include <iostream>
#include <vector>

#include "native/bench/serve.h"
#include "native/engine/engine.h"

namespace {

using halogen::Error;

struct Arguments {
  std::string model;
  std::string variant;
  std::string tokens_file;
  std::string kv_type = "f16";
  int threads = 0;
  int prefill = 512;
  int decode = 128;
  int repeat = 3;
  uint64_t context = 0;
  bool json = false;
  bool inspect = false;
  bool pin = false;
  bool serve = false;
};

constexpr const char* usage =
    "halogen-bench MODEL.gguf [--prefill N] [--decode N] [--repeat N] [--threads N] [--variant reference|avx2|avx512] "
    "[--kv f16|bf16|q8_0|f32|auto]\n"
    "              [--context N] [--pin] [--json]\n"
    "halogen-bench MODEL.gguf --greedy IDS.txt [--decode N]   continues whitespace-separated token ids, prints ids\n"
    "halogen-bench MODEL.gguf --serve                         answers the lines of native/bench/serve.h\n"
    "halogen-bench MODEL.gguf --inspect                       what the header says\n";

Arguments parse(int count, char** words) {
  Arguments arguments;
  const auto value = [&](int& i) -> std::string {
    if (i + 1 >= count) throw Error("request.invalid", std::string(words[i]) + " needs a value.", usage);
    return words[++i];
  };
  for (int i = 1; i < count; ++i) {
    const std::string word = words[i];
    if (word == "--prefill")
      arguments.prefill = std::stoi(value(i));
    else if (word == "--decode")
      arguments.decode = std::stoi(value(i));
    else if (word == "--repeat")
      arguments.repeat = std::stoi(value(i));
    else if (word == "--threads")
      arguments.threads = std::stoi(value(i));
    else if (word == "--context")
      arguments.context = std::stoull(value(i));
    else if (word == "--variant")
      arguments.variant = value(i);
    else if (word == "--kv")
      arguments.kv_type = value(i);
    else if (word == "--greedy")
      arguments.tokens_file = value(i);
    else if (word == "--json")
      arguments.json = true;
    else if (word == "--pin")
      arguments.pin = true;
    else if (word == "--serve")
      arguments.serve = true;
    else if (word == "--inspect")
      arguments.inspect = true;
    else if (arguments.model.empty() && !word.starts_with("--"))
      arguments.model = word;
    else
      throw Error("request.invalid", "Unknown argument " + word + ".", usage);
  }
  if (arguments.model.empty() || arguments.prefill < 0 || arguments.decode < 1 || arguments.repeat < 1) {
    throw Error("request.invalid", "A model is needed, and counts above zero.", usage);
  }
  return arguments;
}

double median(std::vector<double> values) {
  std::ranges::sort(values);
  return values.empty() ? 0 : values[values.size() / 2];
}

halogen::GenerateOutcome generate(halogen::Engine& engine, uint64_t handle, const std::vector<int32_t>& prompt,
                                  int count, std::vector<int32_t>& ids) {
  halogen::GenerateRequest request;
  request.handle = handle;
  request.tokens = prompt;
  request.max_tokens = static_cast<uint64_t>(count);
  const std::shared_ptr<halogen::Generation> generation = engine.generate(request);
  for (halogen::TokenBatch batch; generation->next(batch);) ids.insert(ids.end(), batch.ids.begin(), batch.ids.end());
  return generation->outcome();
}

int greedy(halogen::Engine& engine, uint64_t handle, const Arguments& arguments) {
  std::ifstream file(arguments.tokens_file);
  std::vector<int32_t> prompt;
  for (int32_t id; file >> id;) prompt.push_back(id);
  std::vector<int32_t> ids;
  generate(engine, handle, prompt, arguments.decode, ids);
  for (size_t i = 0; i < ids.size(); ++i) std::printf(i == 0 ? "%d" : " %d", ids[i]);
  std::printf("\n");
  return 0;
}

int bench(halogen::Engine& engine, const halogen::LoadedModel& loaded, const Arguments& arguments, int vocabulary) {
  std::vector<double> prefill, decode;
  for (int run = 0; run < arguments.repeat; ++run) {
    // Each run has its own prompt, so that nothing of the run before can be reused.
    std::vector<int32_t> prompt;
    for (int i = 0; i < std::max(arguments.prefill, 1); ++i)
      prompt.push_back((i * 7919 + (run + 1) * 104729) % vocabulary);
    std::vector<int32_t> ids;
    const halogen::GenerateOutcome outcome = generate(engine, loaded.handle, prompt, arguments.decode + 1, ids);
    prefill.push_back(static_cast<double>(outcome.recomputed) / outcome.prefill_milliseconds * 1000);
    decode.push_back(static_cast<double>(outcome.generated_tokens - 1) / outcome.decode_milliseconds * 1000);
  }
  const halogen::EngineInfo info = engine.info();
  const int threads = arguments.threads > 0 ? arguments.threads : info.threads;
  if (arguments.json) {
    std::printf(
        "{\"threads\":%d,\"kernels\":\"%s\",\"loadMilliseconds\":%.1f,\"prefillTokens\":%d,\"prefillPerSecond\":%.2f,"
        "\"decodeTokens\":%d,\"decodePerSecond\":%.2f,\"repeat\":%d,\"weights\":%llu,\"kv\":%llu,\"scratch\":%llu}\n",
        threads, info.devices[0].reason.c_str(), loaded.load_milliseconds, arguments.prefill, median(prefill),
        arguments.decode, median(decode), arguments.repeat, static_cast<unsigned long long>(loaded.plan.weights),
        static_cast<unsigned long long>(loaded.plan.kv), static_cast<unsigned long long>(loaded.plan.scratch));
  } else {
    std::printf("%s\nthreads %d, load %.0f ms, context %llu\nprefill %d: %.1f tok/s\ndecode %d: %.1f tok/s\n",
                info.devices[0].reason.c_str(), threads, loaded.load_milliseconds,
                static_cast<unsigned long long>(loaded.plan.context_length), arguments.prefill, median(prefill),
                arguments.decode, median(decode));
  }
  return 0;
}

int run(int count, char** words) {
  const Arguments arguments = parse(count, words);
  const auto begun = std::chrono::steady_clock::now();
  halogen::Engine engine({arguments.variant, arguments.threads, arguments.pin});
  if (arguments.inspect) {
    const halogen::ModelInspection inspection = engine.inspect(arguments.model);
    std::printf("%s, %s, %llu parameters, %s%s\n", inspection.architecture.c_str(), inspection.format.c_str(),
                static_cast<unsigned long long>(inspection.parameters),
                inspection.supported ? "supported" : "not supported: ", inspection.problem.c_str());
    return 0;
  }
  halogen::LoadOptions options;
  options.path = arguments.model;
  options.kv_type = arguments.kv_type;
  options.context_length = arguments.context;
  options.threads = arguments.threads;
  const halogen::LoadedModel loaded = engine.load(options);
  const auto ready = std::chrono::steady_clock::now();
  const halogen::ModelInspection inspection = engine.inspect(arguments.model);
  if (arguments.serve) {
    halogen::bench::serve(engine, loaded, inspection, std::chrono::duration<double, std::milli>(ready - begun).count());
    return 0;
  }
  if (!arguments.tokens_file.empty()) return greedy(engine, loaded.handle, arguments);
  return bench(engine, loaded, arguments, static_cast<int>(inspection.vocabulary_size));
}

}  // namespace

int main(int count, char** words) {
  try {
    return run(count, words);
  } catch (const Error& error) {
    std::fprintf(stderr, "%s: %s\n%s\n", error.code().c_str(), error.what(), error.hint().c_str());
  } catch (const std::exception& error) {
    std::fprintf(stderr, "%s\n", error.what());
  }
  return 1;
}
