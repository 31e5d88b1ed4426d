// The bytes of a file through everything that the engine does with one: look at it, read its vocabulary, plan it, and,
// where the plan is small, load it and make a few tokens. Allowed ends: halogen::Error with a code and words, or finite
// numbers.
#include <sys/mman.h>
#include <unistd.h>

#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <string>
#include <vector>

#include "native/engine/engine.h"

namespace {

using halogen::Engine;
using halogen::Error;

constexpr uint64_t most_loaded = 16u << 20;  // bytes of a plan: what is larger takes too long to be tried often

[[noreturn]] void wrong(const std::string& what) {
  std::fprintf(stderr, "WRONG: %s\n", what.c_str());
  std::abort();
}

template <typename Body>
bool tried(Body&& body) {
  try {
    body();
    return true;
  } catch (const Error& error) {
    if (error.code().empty() || error.message().empty()) wrong("an error says nothing");
    if (error.code() == halogen::code::internal) wrong("internal: " + error.message());
    return false;
  }
}

// One file whose content is replaced; its path names it while the process lives.
class Slot {
 public:
  Slot() : file_(memfd_create("halogen-fuzz", 0)), path_("/proc/self/fd/" + std::to_string(file_)) {
    if (file_ < 0) wrong("no memory file");
  }
  const std::string& hold(const uint8_t* data, size_t size) {
    if (ftruncate(file_, 0) != 0) wrong("ftruncate");
    for (size_t at = 0; at < size;) {
      const ssize_t count = pwrite(file_, data + at, size - at, static_cast<off_t>(at));
      if (count <= 0) wrong("pwrite");
      at += static_cast<size_t>(count);
    }
    return path_;
  }

 private:
  int file_;
  std::string path_;
};

void check_strings(const halogen::PackedStrings& strings) {
  if (strings.offsets.empty() || strings.offsets.back() != strings.bytes.size())
    wrong("strings do not end where their bytes do");
  for (size_t i = 1; i < strings.offsets.size(); ++i)
    if (strings.offsets[i] < strings.offsets[i - 1]) wrong("a string of negative length");
}

void make_tokens(Engine& engine, uint64_t handle, uint64_t vocabulary) {
  const std::vector<int32_t> prompt{0, static_cast<int32_t>(vocabulary - 1), static_cast<int32_t>(vocabulary / 2)};
  halogen::GenerateRequest request;
  request.handle = handle;
  request.tokens = prompt;
  request.max_tokens = 3;
  request.alternatives = static_cast<int>(std::min<uint64_t>(2, vocabulary));
  tried([&] {
    const std::shared_ptr<halogen::Generation> generation = engine.generate(request);
    for (halogen::TokenBatch batch; generation->next(batch);) {
      for (const int32_t id : batch.ids)
        if (id < 0 || static_cast<uint64_t>(id) >= vocabulary) wrong("token " + std::to_string(id));
      for (const float value : batch.logprobs)
        if (std::isnan(value)) wrong("a log probability is no number");
    }
    generation->outcome();
  });
  tried([&] {
    for (const float value : engine.score(handle, prompt, 1))
      if (std::isnan(value)) wrong("a score is no number");
  });
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  static Slot slot;
  static Engine engine({"", 1, false});
  const std::string& path = slot.hold(data, size);
  halogen::ModelInspection inspection;
  if (!tried([&] { inspection = engine.inspect(path); })) return 0;
  tried([&] {
    const halogen::Vocabulary vocabulary = engine.vocabulary(path);
    check_strings(vocabulary.tokens);
    check_strings(vocabulary.merges);
  });
  halogen::LoadOptions options;
  options.path = path;
  tried([&] { engine.plan(options); });
  if (!inspection.supported) return 0;
  options.context_length = 32;
  options.threads = 1;
  halogen::MemoryPlan plan;
  if (!tried([&] { plan = engine.plan(options); }) || plan.total > most_loaded) return 0;
  halogen::LoadedModel model;
  if (!tried([&] { model = engine.load(options); })) return 0;
  // A model is loaded with what was planned for it.
  if (model.plan.total != plan.total)
    wrong("the plan changed from " + std::to_string(plan.total) + " to " + std::to_string(model.plan.total));
  if (inspection.vocabulary_size > 0) make_tokens(engine, model.handle, inspection.vocabulary_size);
  engine.unload(model.handle);
  return 0;
}
