// The words of halogen-bench's command line.
#pragma once
#include <cstdint>
#include <string>
#include <vector>

#include "native/engine/engine.h"

namespace halogen::bench {

struct Arguments {
  enum class What { measure, greedy, serve, inspect, help };
  What what = What::measure;
  std::string model;
  std::string variant;
  std::string tokens_file;
  std::string kv_type = "f16";
  std::vector<uint64_t> prefill{512};
  uint64_t decode = 128;
  uint64_t repeat = 3;
  uint64_t context = 0;  // 0: what the measurement needs, else the engine's choice
  int threads = 0;
  bool json = false;
  bool pin = false;
};

extern const char* const usage;

// A whole number from `least` to `most`, all of `word`. Throws request.invalid that names `what` and the bounds.
uint64_t whole(const std::string& what, const std::string& word, uint64_t least, uint64_t most);

// Throws request.invalid.
Arguments parse(int count, char** words);

}  // namespace halogen::bench
