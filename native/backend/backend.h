// The seam between the engine and a processor. The engine decides what to compute and where state lives; a backend
// computes.
#pragma once
#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "native/engine/engine.h"
#include "native/engine/gguf/file.h"
#include "native/engine/model/description.h"

namespace halogen::backend {

struct Setup {
  uint64_t context = 0;  // tokens, > 0
  std::string kv_type;   // "f32", "f16", "bf16" or "q8_0"
  int threads = 0;       // 0: the backend's choice
};

// Bytes per pool, exact. Checkpoints: what is kept to go back to, states of recurrent layers and keys and values of
// windows that have gone by.
struct Pools {
  uint64_t weights = 0;
  uint64_t kv = 0;
  uint64_t recurrent = 0;
  uint64_t checkpoints = 0;
  uint64_t scratch = 0;
};

// Layers whose keys and values stand in the same pages: all that see everything, or those of one window.
struct PageGroup {
  uint32_t pages = 0;  // of which `kept` count as checkpoints
  uint32_t kept = 0;
  int64_t window = 0;  // a token at position p needs those of p - window + 1 .. p; 0: all
  uint64_t page_bytes = 0;
};

// In place of a page that holds nothing that a window still sees.
inline constexpr uint32_t no_page = UINT32_MAX;

// The state after the first `tokens` tokens of a segment is wanted in `slot` too.
struct Checkpoint {
  int64_t tokens = 0;
  uint32_t slot = 0;
};

// Consecutive tokens of one sequence. Its keys and values of positions 0 .. position + tokens - 1 lie in `pages`, a
// table for each group, in order; no_page where no token from `position` on sees any of them. Where the model has
// recurrent layers, their state before the first token stands in `slot` and after the pass that behind the last one.
struct Segment {
  std::span<const int32_t> tokens;
  int64_t position = 0;
  std::span<const std::span<const uint32_t>> pages;
  int64_t logits_from = 0;  // rows logits_from .. tokens.size() - 1 get logits; tokens.size() = none
  uint32_t slot = 0;
  std::span<const Checkpoint> checkpoints = {};  // in order of tokens, each > 0
};

// Weights and state of one loaded model. Used by one thread at a time.
class Model {
 public:
  virtual ~Model() = default;
  virtual const Pools& allocated() const = 0;
  virtual int64_t page_tokens() const = 0;
  virtual std::span<const PageGroup> page_groups() const = 0;
  virtual int64_t vocabulary() const = 0;
  virtual int64_t most_tokens() const = 0;  // per forward, over all segments
  virtual int64_t most_logits() const = 0;
  // Places for the state of one sequence's recurrent layers, whose size does not depend on the sequence; 0: the model
  // has no such layers.
  virtual uint32_t slot_count() const = 0;
  virtual uint64_t slot_bytes() const = 0;
  // Throws internal for a page that is needed and not there. Computes the segments, writes their keys and values and
  // moves their slots on. False: `stop` was seen between two layers; the result is void, and so are the slots that were
  // to be written.
  virtual bool forward(std::span<const Segment> segments, const std::atomic<bool>& stop) = 0;
  // Logits of the last forward, in order of segments and rows: [rows][vocabulary]. Valid until the next forward.
  virtual const float* logits(int64_t row) const = 0;
  // Copies the keys and values of a whole page of a group.
  virtual void copy_page(size_t group, uint32_t from, uint32_t to) = 0;
  virtual void copy_slot(uint32_t from, uint32_t to) = 0;
  // The state before any token.
  virtual void clear_slot(uint32_t slot) = 0;
};

class Backend {
 public:
  virtual ~Backend() = default;
  virtual std::string name() const = 0;  // BackendName of app/engine.ts
  virtual Device device() const = 0;
  virtual int threads() const = 0;
  // Manifest quants this backend can multiply with, e.g. "q4_1".
  virtual bool supports(const gguf::Format& format) const = 0;
  virtual Pools plan(const model::Description& description, const Setup& setup) const = 0;
  virtual uint64_t available() const = 0;
  // Allocates exactly plan(). Throws request.cancelled when `cancel` is seen.
  virtual std::unique_ptr<Model> load(const gguf::File& file, const model::Description& description, const Setup& setup,
                                      const ProgressCallback& on_progress, const std::atomic<bool>& cancel) const = 0;
};

// What this build has, best first. Throws request.invalid for options that cannot be met here.
std::vector<std::unique_ptr<Backend>> backends(const EngineOptions& options);

}  // namespace halogen::backend
