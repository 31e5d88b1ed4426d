// The engine's C++ face. It mirrors app/engine.ts one to one; native/addon translates and adds nothing.
//
// Threads: every member of Engine and Generation may be called from any thread. Calls block unless they say otherwise.
// Errors: everything that fails throws halogen::Error; nothing else is thrown on purpose (std::bad_alloc is
// translated). Engines are independent of each other: there are no globals.
#pragma once
#include <atomic>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "error.h"

namespace halogen {

struct EngineOptions {
  // "" = the best the CPU has. "reference", "avx2", "avx512": the narrowest variant allowed; broader ones fill its
  // gaps, and Device::reason says so. One that this CPU or build lacks is request.invalid.
  std::string cpu_variant;
  // Threads of the CPU backend when LoadOptions::threads is 0; 0 = physical cores within affinity and cgroup quota.
  int threads = 0;
  bool pin_threads = false;
};

struct MemoryPool {
  std::string name;
  uint64_t used = 0;
  std::optional<uint64_t> limit;
};

struct Device {
  std::string backend;  // BackendName of app/engine.ts
  std::string name;
  bool usable = false;
  std::string reason;
  std::vector<std::string> features;
  std::vector<MemoryPool> memory;
};

struct EngineInfo {
  std::string version;
  std::vector<Device> devices;
  std::string chosen;
  int threads = 0;
  std::vector<std::string> architectures;
  std::vector<std::string> formats;
};

struct ModelInspection {
  std::string path;
  uint64_t bytes = 0;
  std::string architecture;
  bool supported = false;
  std::string problem;
  std::string name;
  std::string size_label;
  uint64_t parameters = 0;
  std::string format;
  std::map<std::string, uint64_t> formats;  // bytes per format
  uint64_t context_length = 0;
  uint64_t embedding_length = 0;
  uint64_t block_count = 0;
  uint64_t head_count = 0;
  uint64_t vocabulary_size = 0;
  std::optional<std::string> chat_template;              // `template` in TypeScript
  std::vector<std::pair<std::string, Scalar>> metadata;  // in the file's order
};

// String i is bytes[offsets[i] .. offsets[i + 1]].
struct PackedStrings {
  std::vector<uint8_t> bytes;
  std::vector<uint32_t> offsets{0};
};

struct Vocabulary {
  std::string model;
  std::string pre;
  PackedStrings tokens;
  std::vector<int32_t> types;
  std::vector<float> scores;
  PackedStrings merges;
  std::map<std::string, int64_t> special;
  std::map<std::string, bool> flags;
  std::vector<int32_t> suppressed;  // tokenizer.ggml.suppress_tokens: never to be generated
};

struct LoadOptions {
  std::string path;
  std::string backend = "auto";
  uint64_t context_length = 0;
  std::string kv_type = "auto";  // or "f32", "f16", "bf16", "q8_0"
  int threads = 0;
};

struct MemoryPlan {
  uint64_t context_length = 0;
  std::string kv_type;
  uint64_t weights = 0;
  uint64_t kv = 0;
  uint64_t recurrent = 0;
  uint64_t checkpoints = 0;
  uint64_t scratch = 0;
  uint64_t total = 0;
  uint64_t available = 0;
  bool fits = false;
  std::string reason;
};

struct LoadedModel {
  uint64_t handle = 0;
  std::string backend;
  MemoryPlan plan;
  double load_milliseconds = 0;
};

struct Sampling {
  double temperature = 0;
  double temperature_range = 0;
  double temperature_exponent = 1;
  int64_t top_k = 0;
  double top_p = 1;
  double min_p = 0;
  double typical_p = 1;
  double top_n_sigma = 0;
  double xtc_probability = 0;
  double xtc_threshold = 0.1;
  double repetition_penalty = 1;
  double presence_penalty = 0;
  double frequency_penalty = 0;
  int64_t penalty_last_n = 64;
  double dry_multiplier = 0;
  double dry_base = 1.75;
  int64_t dry_allowed_length = 2;
  int64_t dry_last_n = -1;
  std::vector<int32_t> dry_breakers;  // token sequences, each ended by -1
  std::vector<std::pair<int32_t, double>> logit_bias;
  std::vector<int32_t> suppress;
  std::vector<std::string> order;  // empty: the documented one
  std::optional<uint64_t> seed;
};

struct GenerateRequest {
  uint64_t handle = 0;
  std::vector<int32_t> tokens;
  Sampling sampling;
  uint64_t max_tokens = 0;
  uint64_t min_tokens = 0;
  std::vector<int32_t> stop_tokens;
  std::vector<std::vector<int32_t>> stop_sequences;
  // Each token waits for Generation::allow(), which says what may come; other requests go on meanwhile.
  bool constrained = false;
  int alternatives = 0;
};

struct TokenBatch {
  std::vector<int32_t> ids;
  std::vector<float> logprobs;
  std::vector<int32_t> alternative_ids;
  std::vector<float> alternative_logprobs;
};

struct GenerateOutcome {
  std::string cause;  // StopCause: "stop_token", "stop_sequence", "grammar", "length", "context", "cancelled"
  int32_t stop_token = -1;
  int32_t stop_sequence = -1;
  uint64_t prompt_tokens = 0;
  uint64_t reused = 0;
  uint64_t recomputed = 0;
  uint64_t generated_tokens = 0;
  double prefill_milliseconds = 0;
  double decode_milliseconds = 0;
  uint64_t seed = 0;
};

struct EngineProgress {
  std::string phase;  // "load" or "prefill"
  uint64_t done = 0;
  uint64_t total = 0;
};

// Called on an engine thread; must return soon, must not throw and must not call back into the engine.
using ProgressCallback = std::function<void(const EngineProgress&)>;
using ReadyCallback = std::function<void()>;

// Copies share one flag. cancel() never blocks.
class CancelToken {
 public:
  CancelToken() : flag_(std::make_shared<std::atomic<bool>>(false)) {}
  void cancel() const { flag_->store(true, std::memory_order_relaxed); }
  bool cancelled() const { return flag_->load(std::memory_order_relaxed); }
  const std::atomic<bool>& flag() const { return *flag_; }

 private:
  std::shared_ptr<std::atomic<bool>> flag_;
};

enum class Poll { ready, pending, ended };

// A running generation. Dropping the last reference cancels it. It stays valid (and ends) when its Engine is destroyed.
class Generation {
 public:
  struct Shared;
  explicit Generation(std::shared_ptr<Shared> shared);
  ~Generation();
  Generation(const Generation&) = delete;
  Generation& operator=(const Generation&) = delete;

  // Waits for at least one token and takes all that are there, replacing `batch`. False: ended, nothing more will come.
  // Throws the generation's error, after every token made before it was delivered.
  bool next(TokenBatch& batch);
  // As next(), without waiting. `pending` arms on_ready: it is called once when a token arrives or the generation ends.
  Poll poll(TokenBatch& batch);
  // What the next token of a constrained request may be: bit id % 32 of word id / 32. Called once at the beginning and
  // once after each on_sampled; none at all (an empty vector) ends the generation with "grammar". Never blocks.
  void allow(std::vector<uint32_t> mask);
  // Ends the generation within one step; tokens made so far are still delivered. Never blocks.
  void cancel();
  // Waits for the end, whether or not the tokens were read (a reader that stops reading must cancel). Throws as next().
  GenerateOutcome outcome();

 private:
  std::shared_ptr<Shared> shared_;
};

struct GenerateCallbacks {
  ProgressCallback on_progress;
  // Of a constrained request: a token was chosen, whether or not it is delivered yet.
  std::function<void(int32_t id)> on_sampled;
  ReadyCallback on_ready;
};

class Engine {
 public:
  explicit Engine(EngineOptions options = {});
  // Cancels what runs, waits for calls that are inside the engine, joins every thread, frees every model.
  ~Engine();
  Engine(const Engine&) = delete;
  Engine& operator=(const Engine&) = delete;

  EngineInfo info() const;
  ModelInspection inspect(const std::string& path) const;
  Vocabulary vocabulary(const std::string& path) const;
  MemoryPlan plan(const LoadOptions& options) const;
  // Progress counts bytes of weights. A cancelled token ends it with request.cancelled; nothing stays allocated then.
  LoadedModel load(const LoadOptions& options, const ProgressCallback& on_progress = {},
                   const CancelToken& cancel = {});
  // Cancels and waits for the model's running requests, then frees it. Throws model.not_loaded for an unknown handle.
  void unload(uint64_t handle);
  // Returns at once; faults of the request (model.not_loaded, request.invalid, context.exceeded) are thrown from here.
  std::shared_ptr<Generation> generate(const GenerateRequest& request, GenerateCallbacks callbacks = {});
  // Log-probabilities of the token after each of tokens[from ..]: (tokens.size() - from) rows of vocabulary size.
  std::vector<float> score(uint64_t handle, const std::vector<int32_t>& tokens, uint64_t from,
                           const CancelToken& cancel = {});
  std::vector<MemoryPool> memory() const;
  // What the destructor does, callable early: later calls throw engine.unavailable. Idempotent.
  void close();

 private:
  struct Inner;
  std::unique_ptr<Inner> inner_;
};

}  // namespace halogen
