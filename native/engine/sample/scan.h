// Passes over a whole vocabulary of logits: a quarter of a million numbers a token, so they are written to vectorise.
#pragma once
#include <cstdint>
#include <span>
#include <vector>

namespace halogen::sample {

struct Candidate {
  int32_t id;
  float logit;
};

// Best first, the lower id of equals.
inline bool better(const Candidate& a, const Candidate& b) {
  return a.logit != b.logit ? a.logit > b.logit : a.id < b.id;
}

// Logits are looked at in blocks of this many.
inline constexpr size_t scan_block = 64;

struct Scan {
  float highest = 0;          // -infinity when there is none
  bool not_numbers = false;   // some logit is NaN
  std::vector<float> maxima;  // of each block
};

void scan(std::span<const float> logits, Scan& result);

// Every candidate with logit >= floor, ids ascending, appended to `kept`.
void gather(std::span<const float> logits, const Scan& scanned, float floor, std::vector<Candidate>& kept);

// A floor that at least `count` logits reach and not many more: the count-th largest block maximum.
float floor_of_largest(const Scan& scanned, size_t count);

// weights[i] = exp((logits[i] - highest) * slope), within 2 units in the last place; 0 below e^-87. Returns their sum.
double exponentials(std::span<const float> logits, float highest, float slope, std::span<float> weights);
// The sum alone.
double exponential_sum(std::span<const float> logits, float highest, float slope);

// The largest logit's id, the lowest id of equals. Throws model.not_finite unless it is finite and no logit is NaN.
int32_t best(std::span<const float> logits);

// log(sum(exp(logits)))
double log_sum(std::span<const float> logits);

// The `count` largest, best first, ids ascending among equals.
std::vector<Candidate> largest(std::span<const float> logits, size_t count);

}  // namespace halogen::sample
