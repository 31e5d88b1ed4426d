// halogen-bench: the engine without Node. Measures prefill and decode of one model, or continues a prompt of token ids
// greedily.
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <exception>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "native/bench/argument.h"
#include "native/bench/measure.h"
#include "native/bench/report.h"
#include "native/bench/serve.h"
#include "native/engine/engine.h"

namespace halogen::bench {

namespace {

void print(const std::string& text, FILE* where = stdout) {
  std::fwrite(text.data(), 1, text.size(), where);
  std::fflush(where);
}

void inspect(const ModelInspection& model, bool json) {
  if (json) {
    print("{\"name\":" + quoted(model.name) + ",\"architecture\":" + quoted(model.architecture) +
          ",\"format\":" + quoted(model.format) + ",\"parameters\":" + std::to_string(model.parameters) +
          ",\"bytes\":" + std::to_string(model.bytes) + ",\"contextLength\":" + std::to_string(model.context_length) +
          ",\"vocabulary\":" + std::to_string(model.vocabulary_size) +
          ",\"supported\":" + (model.supported ? "true" : "false") + ",\"problem\":" + quoted(model.problem) + "}\n");
    return;
  }
  print(model.architecture + ", " + model.format + ", " + std::to_string(model.parameters) + " parameters, " +
        (model.supported ? "supported" : "not supported: ") + model.problem + "\n");
}

void greedy(Engine& engine, uint64_t handle, const Arguments& arguments) {
  GenerateRequest request;
  request.handle = handle;
  request.tokens = read_ids(arguments.tokens_file);
  request.max_tokens = arguments.decode;
  const std::shared_ptr<Generation> generation = engine.generate(request);
  std::string line;
  for (TokenBatch batch; generation->next(batch);)
    for (const int32_t id : batch.ids) line += (line.empty() ? "" : " ") + std::to_string(id);
  print(line + "\n");
}

// Each has a beginning of its own, so that nothing of one before it can be reused.
std::vector<int32_t> prompt_of(uint64_t length, uint64_t which, uint64_t vocabulary) {
  std::vector<int32_t> prompt;
  for (uint64_t i = 0; i < std::max<uint64_t>(length, 1); ++i)
    prompt.push_back(static_cast<int32_t>((i * 7919 + which + 1) % vocabulary));
  return prompt;
}

Run measured(Engine& engine, uint64_t handle, uint64_t length, const Arguments& arguments,
             const std::function<std::vector<int32_t>(uint64_t)>& prompt) {
  Run run{length, arguments.decode, {}, {}};
  for (uint64_t round = 0; round < arguments.repeat; ++round) {
    const Measured one = measure(engine, handle, prompt(length), arguments.decode);
    if (length > 0) run.prefill.push_back(static_cast<double>(length) * 1000 / one.prefill_milliseconds);
    run.decode.push_back(static_cast<double>(arguments.decode) * 1000 / one.decode_milliseconds);
  }
  return run;
}

void check_pools(const Report& report) {
  for (const Pool& pool : pools(report)) {
    if (pool.planned == pool.allocated) continue;
    throw Error(code::internal, "The plan says " + std::to_string(pool.planned) + " bytes of " + pool.name + ", " +
                                    std::to_string(pool.allocated) + " are allocated.");
  }
}

void bench(Engine& engine, const LoadedModel& loaded, const ModelInspection& model, const Arguments& arguments) {
  const EngineInfo info = engine.info();
  const auto device = std::ranges::find(info.devices, loaded.backend, &Device::backend);
  if (device == info.devices.end()) throw Error(code::internal, "No device is called " + loaded.backend + ".");
  Report report{info.version,
                device->name,
                device->reason,
                arguments.threads > 0 ? arguments.threads : info.threads,
                model,
                loaded,
                {},
                {}};
  report.memory = engine.memory();
  // Beside JSON the words go to standard error, and are still there when a later run is cut.
  FILE* const words = arguments.json ? stderr : stdout;
  print(in_words(report), words);
  check_pools(report);
  uint64_t which = 0;
  const auto prompt = [&](uint64_t length) { return prompt_of(length, which++, model.vocabulary_size); };
  // A short one that is not counted: threads, caches and pages of the file.
  measure(engine, loaded.handle, prompt(std::min<uint64_t>(std::ranges::max(arguments.prefill), 64)), 1);
  for (const uint64_t length : arguments.prefill) {
    report.runs.push_back(measured(engine, loaded.handle, length, arguments, prompt));
    print(in_words(report.runs.back()), words);
  }
  report.memory = engine.memory();
  if (arguments.json) print(as_json(report));
}

void run(int count, char** words) {
  const Arguments arguments = parse(count, words);
  if (arguments.what == Arguments::What::help) return print(usage);
  const auto begun = std::chrono::steady_clock::now();
  Engine engine({arguments.variant, arguments.threads, arguments.pin});
  if (arguments.what == Arguments::What::inspect) return inspect(engine.inspect(arguments.model), arguments.json);
  LoadOptions options;
  options.path = arguments.model;
  options.kv_type = arguments.kv_type;
  options.context_length = arguments.context;
  options.threads = arguments.threads;
  if (arguments.what == Arguments::What::measure && arguments.context == 0)
    options.context_length = std::max<uint64_t>(std::ranges::max(arguments.prefill), 64) + arguments.decode + 1;
  const LoadedModel loaded = engine.load(options);
  const std::chrono::duration<double, std::milli> loading = std::chrono::steady_clock::now() - begun;
  const ModelInspection model = engine.inspect(arguments.model);
  if (arguments.what == Arguments::What::serve)
    serve(engine, loaded, model, loading.count());
  else if (arguments.what == Arguments::What::greedy)
    greedy(engine, loaded.handle, arguments);
  else
    bench(engine, loaded, model, arguments);
}

}  // namespace

}  // namespace halogen::bench

int main(int count, char** words) {
  try {
    halogen::bench::run(count, words);
    // A full disk or a closed pipe shows here at the latest.
    if (std::fflush(stdout) == 0 && std::ferror(stdout) == 0) return 0;
    std::fprintf(stderr, "standard output could not be written\n");
  } catch (const halogen::Error& error) {
    std::fprintf(stderr, "%s: %s\n%s\n", error.code().c_str(), error.what(), error.hint().c_str());
  } catch (const std::exception& error) {
    std::fprintf(stderr, "%s\n", error.what());
  }
  return 1;
}
