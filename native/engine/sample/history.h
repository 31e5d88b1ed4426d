// What was written before, as far as it counts against writing it again.
#pragma once
#include <cstdint>
#include <functional>
#include <span>
#include <unordered_map>
#include <vector>

#include "native/engine/engine.h"

namespace halogen::sample {

// Lets a penalty change a token's logit; the token may be gone already.
using Change = std::function<void(int32_t id, const std::function<float(float)>& to)>;

// Repetition (Keskar et al. 2019: a positive logit is divided, a negative one multiplied), frequency and presence
// (subtracted, as OpenAI's API documents them) over the last `penalty_last_n` tokens, prompt included; -1 = all.
class Penalties {
 public:
  explicit Penalties(const Sampling& sampling);
  bool on() const { return on_; }
  // `tokens` may only have grown since the last call.
  void apply(std::span<const int32_t> tokens, const Change& change);

 private:
  const double repetition_, presence_, frequency_;
  const size_t window_;
  const bool on_;
  size_t from_ = 0, to_ = 0;  // what counts_ counts
  std::unordered_map<int32_t, int64_t> counts_;
};

// DRY ("don't repeat yourself", p-e-w 2024): a token that would prolong a repetition of n >= allowed tokens loses
// multiplier * base^(n - allowed). No repetition reaches over a breaker.
class Dry {
 public:
  explicit Dry(const Sampling& sampling);
  bool on() const { return multiplier_ > 0; }
  void apply(std::span<const int32_t> tokens, const Change& change);

 private:
  // How many of the last tokens stand behind the last breaker.
  size_t unbroken(std::span<const int32_t> tokens) const;

  const double multiplier_, base_;
  const size_t allowed_, window_;
  std::unordered_map<int32_t, std::vector<std::vector<int32_t>>> breakers_;  // by first token, the rest of each
  std::vector<size_t> match_;
};

}  // namespace halogen::sample
