#include "native/engine/engine.h"

#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <list>
#include <mutex>
#include <system_error>

#include "native/backend/backend.h"
#include "native/engine/checkpoint/folder.h"
#include "native/engine/model/architecture.h"
#include "native/engine/model/inspect.h"
#include "native/engine/plan/machine.h"
#include "native/engine/plan/plan.h"
#include "native/engine/schedule/scheduler.h"

namespace halogen {
namespace {

constexpr const char* version = "0.1.0";
constexpr uint64_t most_score_bytes = uint64_t{1} << 31;

gguf::File open_model(const std::string& path) {
  return checkpoint::is_folder(path) ? checkpoint::open(path) : gguf::File(path);
}

template <typename Body>
auto translated(Body&& body) {
  try {
    return body();
  } catch (const std::bad_alloc&) {
    throw Error(code::memory_exhausted, "The system refused memory for this.",
                "Close other programs, or choose a smaller model or context.");
  } catch (const std::system_error& error) {
    throw Error(code::engine_unavailable, std::string("The system refused a thread or a lock: ") + error.what() + ".",
                "Close other programs.", {{"errno", error.code().value()}});
  }
}

}  // namespace

struct Engine::Inner {
  struct Loaded {
    MemoryPlan plan;
    std::unique_ptr<schedule::Scheduler> scheduler;
  };

  explicit Inner(const EngineOptions& options) : backends(backend::backends(options)) {}

  // A call that is inside the engine; close() waits until none is.
  class Inside {
   public:
    explicit Inside(Inner& inner, const CancelToken& cancel = {}) : inner_(inner) {
      const std::lock_guard lock(inner_.mutex);
      if (inner_.closed) throw Error(code::engine_unavailable, "The engine was closed.", "");
      ++inner_.inside;
      place_ = inner_.cancellable.insert(inner_.cancellable.end(), cancel);
    }
    ~Inside() {
      const std::lock_guard lock(inner_.mutex);
      inner_.cancellable.erase(place_);
      if (--inner_.inside == 0) inner_.left.notify_all();
    }
    Inside(const Inside&) = delete;
    Inside& operator=(const Inside&) = delete;

   private:
    Inner& inner_;
    std::list<CancelToken>::iterator place_;
  };

  std::shared_ptr<Loaded> find(uint64_t handle) {
    const std::lock_guard lock(mutex);
    const auto found = models.find(handle);
    if (found == models.end()) {
      throw Error(code::model_not_loaded, "No model is loaded under handle " + std::to_string(handle) + ".",
                  "Load the model first.", {{"handle", handle}});
    }
    return found->second;
  }

  const backend::Backend& backend_for(const std::string& name) const {
    if (name == "auto") return *backends.front();
    for (const auto& each : backends) {
      if (each->name() == name) return *each;
    }
    throw Error(code::engine_unavailable, "The backend \"" + name + "\" is not part of this build.",
                "Choose cpu or auto.", {{"backend", name}});
  }

  const std::vector<std::unique_ptr<backend::Backend>> backends;  // best first
  std::mutex mutex;
  std::condition_variable left;
  bool closed = false;
  int inside = 0;
  uint64_t last_handle = 0;
  std::list<CancelToken> cancellable;
  std::map<uint64_t, std::shared_ptr<Loaded>> models;
};

Engine::Engine(EngineOptions options) : inner_(std::make_unique<Inner>(options)) {}

Engine::~Engine() {
  close();
}

void Engine::close() {
  std::map<uint64_t, std::shared_ptr<Inner::Loaded>> models;
  {
    std::unique_lock lock(inner_->mutex);
    inner_->closed = true;
    for (const CancelToken& token : inner_->cancellable) token.cancel();
    models.swap(inner_->models);
  }
  // Schedulers first: a call may be waiting for one of them.
  for (const auto& [handle, loaded] : models) loaded->scheduler->close();
  std::unique_lock lock(inner_->mutex);
  inner_->left.wait(lock, [&] { return inner_->inside == 0; });
}

EngineInfo Engine::info() const {
  const Inner::Inside inside(*inner_);
  EngineInfo info;
  info.version = version;
  const backend::Backend& chosen = *inner_->backends.front();
  for (const auto& each : inner_->backends) info.devices.push_back(each->device());
  info.chosen = chosen.name();
  info.threads = chosen.threads();
  for (const model::Architecture& architecture : model::architectures())
    info.architectures.emplace_back(architecture.name);
  for (const gguf::Format& format : gguf::formats()) {
    if (chosen.supports(format)) info.formats.emplace_back(format.name);
  }
  if (chosen.supports(gguf::awq4)) info.formats.emplace_back(gguf::awq4.name);
  return info;
}

ModelInspection Engine::inspect(const std::string& path) const {
  const Inner::Inside inside(*inner_);
  return translated([&] {
    const gguf::File file = open_model(path);
    ModelInspection result = model::inspect(file);
    try {
      inner_->backends.front()->plan(model::describe(file), {512, "f16", 1});
      result.supported = true;
    } catch (const Error& error) {
      result.problem = error.message();
    }
    return result;
  });
}

Vocabulary Engine::vocabulary(const std::string& path) const {
  const Inner::Inside inside(*inner_);
  return translated([&] {
    return checkpoint::is_folder(path) ? checkpoint::read_vocabulary(path) : model::read_vocabulary(gguf::File(path));
  });
}

MemoryPlan Engine::plan(const LoadOptions& options) const {
  const Inner::Inside inside(*inner_);
  return translated([&] {
    const gguf::File file = open_model(options.path);
    return plan::make(model::describe(file), options, inner_->backend_for(options.backend));
  });
}

LoadedModel Engine::load(const LoadOptions& options, const ProgressCallback& on_progress, const CancelToken& cancel) {
  const Inner::Inside inside(*inner_, cancel);
  return translated([&] {
    const auto begin = std::chrono::steady_clock::now();
    const backend::Backend& backend = inner_->backend_for(options.backend);
    const gguf::File file = open_model(options.path);
    const model::Description description = model::describe(file);
    auto loaded = std::make_shared<Inner::Loaded>();
    loaded->plan = plan::make(description, options, backend);
    if (!loaded->plan.fits) throw plan::too_large(loaded->plan);
    const uint64_t context = loaded->plan.context_length;
    loaded->scheduler = std::make_unique<schedule::Scheduler>(
        backend.load(file, description, {context, loaded->plan.kv_type, options.threads}, on_progress, cancel.flag()),
        context);
    LoadedModel result;
    result.backend = backend.name();
    result.plan = loaded->plan;
    result.load_milliseconds =
        std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - begin).count();
    const std::lock_guard lock(inner_->mutex);
    if (inner_->closed) throw Error(code::request_cancelled, "Loading was cancelled: the engine closed.");
    result.handle = ++inner_->last_handle;
    inner_->models.emplace(result.handle, std::move(loaded));
    return result;
  });
}

void Engine::unload(uint64_t handle) {
  const Inner::Inside inside(*inner_);
  const std::shared_ptr<Inner::Loaded> loaded = inner_->find(handle);
  {
    const std::lock_guard lock(inner_->mutex);
    inner_->models.erase(handle);
  }
  loaded->scheduler->close();
}

std::shared_ptr<Generation> Engine::generate(const GenerateRequest& request, GenerateCallbacks callbacks) {
  const Inner::Inside inside(*inner_);
  return translated([&] {
    const std::shared_ptr<Inner::Loaded> loaded = inner_->find(request.handle);
    schedule::Scheduler& scheduler = *loaded->scheduler;
    scheduler.check_tokens(request.tokens);
    scheduler.check_tokens(request.stop_tokens);
    for (const std::vector<int32_t>& sequence : request.stop_sequences) {
      scheduler.check_tokens(sequence);
      if (!sequence.empty()) continue;
      throw Error(code::request_invalid, "A stop sequence has no tokens.", "",
                  {{"sequences", request.stop_sequences.size()}});
    }
    sample::check(request.sampling, scheduler.model().vocabulary());
    if (request.tokens.empty()) {
      throw Error(code::request_invalid, "There are no tokens to continue.", "A prompt needs at least one token.");
    }
    const uint64_t context = scheduler.context();
    if (request.tokens.size() >= context) {
      throw Error(code::context_exceeded,
                  "The conversation has " + std::to_string(request.tokens.size()) +
                      " tokens and leaves no room for a reply in the context of " + std::to_string(context) + ".",
                  "Shorten it, start a new one, or load the model with a larger context.",
                  {{"tokens", request.tokens.size()}, {"contextLength", context}});
    }
    if (request.alternatives < 0 || request.alternatives > 1000) {
      throw Error(code::request_invalid, std::to_string(request.alternatives) + " alternatives cannot be reported.",
                  "Ask for 0 to 1000.", {{"alternatives", request.alternatives}});
    }
    return scheduler.generate(request, std::move(callbacks));
  });
}

std::vector<float> Engine::score(uint64_t handle, const std::vector<int32_t>& tokens, uint64_t from,
                                 const CancelToken& cancel) {
  const Inner::Inside inside(*inner_, cancel);
  return translated([&] {
    const std::shared_ptr<Inner::Loaded> loaded = inner_->find(handle);
    schedule::Scheduler& scheduler = *loaded->scheduler;
    scheduler.check_tokens(tokens);
    if (from >= tokens.size()) {
      throw Error(code::request_invalid,
                  "Scoring from token " + std::to_string(from) + " of " + std::to_string(tokens.size()) + " is empty.",
                  "", {{"from", from}, {"tokens", tokens.size()}});
    }
    if (tokens.size() > scheduler.context()) {
      throw Error(
          code::context_exceeded,
          std::to_string(tokens.size()) + " tokens exceed the context of " + std::to_string(scheduler.context()) + ".",
          "Load the model with a larger context.", {{"tokens", tokens.size()}, {"contextLength", scheduler.context()}});
    }
    const uint64_t bytes =
        (tokens.size() - from) * static_cast<uint64_t>(scheduler.model().vocabulary()) * sizeof(float);
    if (bytes > most_score_bytes) {
      throw Error(code::request_invalid, "Scoring so many tokens gives " + plan::in_words(bytes) + ".",
                  "Score fewer at a time.", {{"bytes", bytes}});
    }
    return scheduler.score(tokens, from, cancel).get();
  });
}

std::vector<MemoryPool> Engine::memory() const {
  const Inner::Inside inside(*inner_);
  MemoryPool weights{"weights", 0, std::nullopt}, kv{"kv", 0, 0}, scratch{"scratch", 0, std::nullopt};
  MemoryPool recurrent{"recurrent", 0, 0}, checkpoints{"checkpoints", 0, 0};
  {
    const std::lock_guard lock(inner_->mutex);
    for (const auto& [handle, loaded] : inner_->models) {
      const backend::Pools& pools = loaded->scheduler->model().allocated();
      weights.used += pools.weights;
      kv.used += loaded->scheduler->kv_used();
      kv.limit = *kv.limit + pools.kv;
      scratch.used += pools.scratch;
      const uint64_t states = loaded->scheduler->state_used();
      recurrent.used += std::min(states, pools.recurrent);
      recurrent.limit = *recurrent.limit + pools.recurrent;
      checkpoints.used += states - std::min(states, pools.recurrent);
      checkpoints.limit = *checkpoints.limit + pools.checkpoints;
    }
  }
  const plan::Memory machine = plan::machine_memory();
  return {weights,
          kv,
          recurrent,
          checkpoints,
          scratch,
          {"process", plan::process_memory(), std::nullopt},
          {"ram", machine.total > machine.available ? machine.total - machine.available : 0, machine.total}};
}

}  // namespace halogen
