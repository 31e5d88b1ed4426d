// What was measured, in words or as JSON.
#pragma once
#include <cstdint>
#include <string>
#include <vector>

#include "native/engine/engine.h"

namespace halogen::bench {

struct Run {
  uint64_t prompt = 0;  // tokens; 0: decode from nothing, on a prompt of one
  uint64_t steps = 0;
  std::vector<double> prefill;  // tokens a second, one value a round; empty without a prompt
  std::vector<double> decode;
};

struct Report {
  std::string version, processor, kernels;
  int threads = 0;
  ModelInspection model;
  LoadedModel loaded;
  std::vector<MemoryPool> memory;  // as Engine::memory gives it
  std::vector<Run> runs;
};

// The pools of the plan beside what was allocated.
struct Pool {
  std::string name;
  uint64_t planned = 0;
  uint64_t allocated = 0;
};
std::vector<Pool> pools(const Report& report);

// A string between quotation marks, as JSON has it.
std::string quoted(const std::string& text);

// Model, machine and memory; each run is said when it ends, so that a run that is cut loses nothing before.
std::string in_words(const Report& report);
std::string in_words(const Run& run);
std::string as_json(const Report& report);

}  // namespace halogen::bench
