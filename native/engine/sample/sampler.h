// Chooses the next token. Order: top-k, top-p, min-p (all on the model's own probabilities), then temperature, then the
// draw.
#pragma once
#include <span>
#include <vector>

#include "native/engine/engine.h"

namespace halogen::sample {

// Throws request.invalid for values out of range.
void check(const Sampling& sampling);

struct Candidate {
  int32_t id;
  float logit;
};

class Sampler {
 public:
  Sampler(const Sampling& sampling, uint64_t seed) : sampling_(sampling), seed_(seed) {}

  // The token for `position` of the sequence. Throws internal when the logits are not finite numbers.
  int32_t choose(std::span<const float> logits, uint64_t position);

 private:
  int32_t draw(uint64_t position);
  void keep_top_k(size_t count);
  void keep_top_p(double mass);

  Sampling sampling_;
  uint64_t seed_;
  std::vector<Candidate> candidates_;
};

// The largest logit's id, the lowest id of equals. Throws internal unless it is finite and no logit is NaN.
int32_t best(std::span<const float> logits);

// log(sum(exp(logits)))
double log_sum(std::span<const float> logits);

// The `count` largest, best first, ids ascending among equals.
std::vector<Candidate> largest(std::span<const float> logits, size_t count);

}  // namespace halogen::sample
