#include "native/engine/sample/sampler.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <random>

#include "native/engine/sample/random.h"

namespace halogen::sample {
namespace {

bool better(const Candidate& a, const Candidate& b) {
  return a.logit != b.logit ? a.logit > b.logit : a.id < b.id;
}

[[noreturn]] void invalid(const char* name, double value, const char* range) {
  throw Error(code::request_invalid,
              std::string("Sampling value ") + name + " is " + std::to_string(value) + "; it must be " + range + ".",
              "", {{name, value}});
}

std::vector<Candidate> all(std::span<const float> logits) {
  std::vector<Candidate> candidates(logits.size());
  for (size_t i = 0; i < logits.size(); ++i) candidates[i] = {static_cast<int32_t>(i), logits[i]};
  return candidates;
}

}  // namespace

uint64_t fresh_seed() {
  // 32 bits, which every client can show and send back.
  return std::random_device{}() & 0xffffffffu;
}

void check(const Sampling& sampling) {
  if (!(sampling.temperature >= 0 && sampling.temperature <= 100))
    invalid("temperature", sampling.temperature, "between 0 and 100");
  if (sampling.top_k < 0) invalid("topK", static_cast<double>(sampling.top_k), "0 (off) or more");
  if (!(sampling.top_p > 0 && sampling.top_p <= 1)) invalid("topP", sampling.top_p, "above 0 and at most 1 (off)");
  if (!(sampling.min_p >= 0 && sampling.min_p <= 1)) invalid("minP", sampling.min_p, "between 0 (off) and 1");
}

int32_t best(std::span<const float> logits) {
  float highest = -std::numeric_limits<float>::infinity();
  int not_numbers = 0;
  for (const float logit : logits) {
    not_numbers += logit != logit ? 1 : 0;
    highest = logit > highest ? logit : highest;
  }
  if (not_numbers > 0 || !std::isfinite(highest)) {
    throw Error(code::model_not_finite,
                "The model's output is not a number for " + std::to_string(not_numbers) + " of " +
                    std::to_string(logits.size()) + " tokens.",
                "The model file may be damaged; download it again. If it stays, report it.",
                {{"notNumbers", not_numbers}, {"vocabulary", logits.size()}});
  }
  return static_cast<int32_t>(std::find(logits.begin(), logits.end(), highest) - logits.begin());
}

double log_sum(std::span<const float> logits) {
  const float highest = *std::max_element(logits.begin(), logits.end());
  double sum = 0;
  for (const float logit : logits) sum += static_cast<double>(std::exp(logit - highest));
  return static_cast<double>(highest) + std::log(sum);
}

std::vector<Candidate> largest(std::span<const float> logits, size_t count) {
  std::vector<Candidate> candidates = all(logits);
  count = std::min(count, candidates.size());
  std::partial_sort(candidates.begin(), candidates.begin() + static_cast<std::ptrdiff_t>(count), candidates.end(),
                    better);
  candidates.resize(count);
  return candidates;
}

int32_t Sampler::choose(std::span<const float> logits, uint64_t position) {
  const int32_t top = best(logits);
  if (sampling_.temperature == 0) return top;
  const float highest = logits[static_cast<size_t>(top)];
  // With min-p the rest can be dropped before sorting, unless top-p needs their mass.
  const float floor = sampling_.top_p >= 1 && sampling_.min_p > 0
                          ? highest + static_cast<float>(std::log(sampling_.min_p))
                          : -std::numeric_limits<float>::infinity();
  candidates_.clear();
  for (size_t i = 0; i < logits.size(); ++i) {
    if (logits[i] >= floor) candidates_.push_back({static_cast<int32_t>(i), logits[i]});
  }
  if (sampling_.top_k > 0) keep_top_k(static_cast<size_t>(sampling_.top_k));
  if (sampling_.top_p < 1) keep_top_p(sampling_.top_p);
  if (sampling_.min_p > 0) {
    const float least = highest + static_cast<float>(std::log(sampling_.min_p));
    std::erase_if(candidates_, [&](const Candidate& candidate) { return candidate.logit < least; });
  }
  return draw(position);
}

void Sampler::keep_top_k(size_t count) {
  if (count >= candidates_.size()) return;
  std::nth_element(candidates_.begin(), candidates_.begin() + static_cast<std::ptrdiff_t>(count) - 1, candidates_.end(),
                   better);
  candidates_.resize(count);
}

// The fewest candidates whose probabilities reach `mass`. Sorts only as far as needed.
void Sampler::keep_top_p(double mass) {
  const auto by_logit = [](const Candidate& a, const Candidate& b) { return a.logit < b.logit; };
  const float highest = std::max_element(candidates_.begin(), candidates_.end(), by_logit)->logit;
  double total = 0;
  for (const Candidate& candidate : candidates_) total += static_cast<double>(std::exp(candidate.logit - highest));
  double sum = 0;
  size_t kept = 0;
  for (size_t sorted = std::min<size_t>(256, candidates_.size());; sorted = std::min(sorted * 4, candidates_.size())) {
    const auto end = candidates_.begin() + static_cast<std::ptrdiff_t>(sorted);
    std::partial_sort(candidates_.begin() + static_cast<std::ptrdiff_t>(kept), end, candidates_.end(), better);
    while (kept < sorted && sum < mass * total)
      sum += static_cast<double>(std::exp(candidates_[kept++].logit - highest));
    if (sum >= mass * total || sorted == candidates_.size()) break;
  }
  candidates_.resize(std::max<size_t>(kept, 1));
}

int32_t Sampler::draw(uint64_t position) {
  // A fixed order makes the draw depend on the numbers alone, not on how they were filtered.
  if (!std::ranges::is_sorted(candidates_, {}, &Candidate::id)) std::ranges::sort(candidates_, {}, &Candidate::id);
  float highest = candidates_.front().logit;
  for (const Candidate& candidate : candidates_) highest = std::max(highest, candidate.logit);
  const auto weight = [&](const Candidate& candidate) {
    return std::exp(static_cast<double>(candidate.logit - highest) / sampling_.temperature);
  };
  double total = 0;
  for (const Candidate& candidate : candidates_) total += weight(candidate);
  double left = uniform(seed_, position) * total;
  for (const Candidate& candidate : candidates_) {
    left -= weight(candidate);
    if (left < 0) return candidate.id;
  }
  return candidates_.back().id;
}

}  // namespace halogen::sample
