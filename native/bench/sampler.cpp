// What choosing a token costs: `halogen-sampler-bench [vocabulary]` prints the least of 200 draws for each chain, in
// milliseconds.
#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <limits>
#include <string>
#include <vector>

#include "native/engine/sample/random.h"
#include "native/engine/sample/sampler.h"

namespace {

using namespace halogen;

// Peaked as those of a model are: most far below the best.
std::vector<float> logits_of(size_t count) {
  std::vector<float> logits(count);
  for (size_t i = 0; i < count; ++i) {
    const double one = 1 - sample::uniform(1, i), other = sample::uniform(2, i);
    logits[i] = static_cast<float>(std::sqrt(-2 * std::log(one)) * std::cos(6.283185307179586 * other) * 3);
  }
  for (size_t i = 0; i < std::min<size_t>(count, 50); ++i)
    logits[i * (count / 50)] = 14 + static_cast<float>(sample::uniform(3, i)) * 8;
  return logits;
}

void measure(const char* name, const Sampling& sampling, const std::vector<float>& logits, bool masked = false) {
  sample::Sampler sampler(sampling, 1);
  const std::vector<uint32_t> mask((logits.size() + 31) / 32, 0xfffffff0u);
  std::vector<int32_t> tokens;
  for (uint64_t i = 0; i < 2000; ++i)
    tokens.push_back(static_cast<int32_t>(sample::mix(i) % static_cast<uint64_t>(logits.size())));
  double least = std::numeric_limits<double>::infinity();
  for (int round = 0; round < 200; ++round) {
    sample::Sampler::Input input{logits, tokens};
    if (masked) input.allowed = mask;
    const auto begin = std::chrono::steady_clock::now();
    const int32_t id = sampler.choose(input);
    const std::chrono::duration<double, std::milli> taken = std::chrono::steady_clock::now() - begin;
    least = std::min(least, taken.count());
    tokens.push_back(id);
  }
  std::printf("%-36s %7.3f\n", name, least);
}

}  // namespace

int main(int count, char** words) {
  const size_t vocabulary = count > 1 ? static_cast<size_t>(std::strtoull(words[1], nullptr, 10)) : 262144;
  if (vocabulary < 50 || vocabulary > 100'000'000) {
    std::fprintf(stderr, "a vocabulary has 50 to 100,000,000 tokens\n");
    return 2;
  }
  const std::vector<float> logits = logits_of(vocabulary);
  Sampling chain;
  measure("greedy", chain, logits);
  chain.temperature = 0.8;
  chain.top_k = 40;
  chain.top_p = 0.95;
  chain.min_p = 0.05;
  measure("top-k 40, top-p, min-p, temperature", chain, logits);
  chain.repetition_penalty = 1.1;
  measure("  with penalties over 64", chain, logits);
  chain.penalty_last_n = -1;
  measure("  with penalties over all", chain, logits);
  chain.dry_multiplier = 0.8;
  measure("  and DRY", chain, logits);
  measure("  and a mask", chain, logits, true);
  Sampling alone;
  alone.temperature = 1;
  measure("temperature alone", alone, logits);
  alone.top_p = 0.95;
  measure("top-p alone", alone, logits);
  alone.top_p = 1;
  alone.min_p = 0.05;
  measure("min-p alone", alone, logits);
  alone.min_p = 0;
  alone.top_n_sigma = 1;
  measure("top-n-sigma alone", alone, logits);
  alone.top_n_sigma = 0;
  alone.typical_p = 0.9;
  measure("typical alone", alone, logits);
  return 0;
}
