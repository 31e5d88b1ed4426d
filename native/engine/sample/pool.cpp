#include "native/engine/sample/pool.h"

#include <algorithm>
#include <cmath>
#include <string>
#include <utility>

#include "native/engine/error.h"

namespace halogen::sample {
namespace {

constexpr float gone = -std::numeric_limits<float>::infinity();
constexpr float lowest = std::numeric_limits<float>::lowest();

// Sums of float exponentials carry a relative error of this size: a mass that is short by less has been reached.
constexpr double precision = 2e-7;

}  // namespace

void Pool::fill(std::span<const float> logits) {
  logits_ = logits;
  owned_ = listed_ = scan_valid_ = false;
  temperature_ = 1;
  list_.clear();
}

std::span<float> Pool::own() {
  if (!owned_) {
    own_.assign(logits_.begin(), logits_.end());
    logits_ = own_;
    owned_ = true;
  }
  scan_valid_ = false;
  return own_;
}

void Pool::mask(std::span<const uint32_t> allowed) {
  const std::span<float> logits = own();
  for (size_t begin = 0; begin < logits.size(); begin += 32) {
    const size_t word = begin / 32;
    const uint32_t bits = word < allowed.size() ? allowed[word] : 0;
    if (bits == 0xffffffffu) continue;
    const size_t end = std::min(begin + 32, logits.size());
    for (size_t i = begin; i < end; ++i) {
      // What is not a number stays, to be found.
      if ((bits >> (i - begin) & 1) == 0 && logits[i] == logits[i]) logits[i] = gone;
    }
  }
}

void Pool::remove(int32_t id) {
  float& logit = own()[static_cast<size_t>(id)];
  if (logit == logit) logit = gone;
}

void Pool::settle() {
  if (temperature_ == 1) return;
  const auto divided = [&](float logit) { return static_cast<float>(static_cast<double>(logit) / temperature_); };
  if (dense()) {
    for (float& logit : own()) logit = divided(logit);
  } else {
    for (Candidate& candidate : list_) candidate.logit = divided(candidate.logit);
  }
  temperature_ = 1;
}

const Scan& Pool::scanned() {
  if (!scan_valid_) scan(logits_, scan_);
  scan_valid_ = true;
  return scan_;
}

void Pool::require_some(std::span<const float> original) {
  if (!scanned().not_numbers && std::isfinite(scan_.highest)) return;
  best(original);  // says what is wrong with the model's output
  throw Error(code::request_invalid, "No token is left to choose from: all are suppressed or masked.",
              "Suppress fewer tokens.", {{"vocabulary", original.size()}});
}

float Pool::highest() {
  if (dense()) return scanned().highest;
  float most = gone;
  for (const Candidate& candidate : list_) most = std::max(most, candidate.logit);
  return most;
}

double Pool::weight(float logit, float highest) const {
  return std::exp((static_cast<double>(logit) - static_cast<double>(highest)) / temperature_);
}

double Pool::weigh() {
  const float most = highest();
  weights_.resize(list_.size());
  double total = 0;
  if (list_.size() > 1024) {
    std::vector<float> logits(list_.size());
    for (size_t i = 0; i < list_.size(); ++i) logits[i] = list_[i].logit;
    dense_weights_.resize(list_.size());
    total = exponentials(logits, most, static_cast<float>(1 / temperature_), dense_weights_);
    std::copy(dense_weights_.begin(), dense_weights_.end(), weights_.begin());
    return total;
  }
  for (size_t i = 0; i < list_.size(); ++i) total += weights_[i] = weight(list_[i].logit, most);
  return total;
}

void Pool::list_from(float floor) {
  if (dense()) {
    gather(logits_, scanned(), std::max(floor, lowest), list_);
    listed_ = true;
  } else {
    std::erase_if(list_, [&](const Candidate& candidate) { return candidate.logit < floor; });
  }
}

void Pool::list_all() {
  if (dense()) list_from(lowest);
}

void Pool::top_n_sigma(double n) {
  double sum = 0, squares = 0;
  size_t count = 0;
  const auto add = [&](float logit) {
    if (logit == gone) return;
    sum += static_cast<double>(logit);
    ++count;
  };
  const auto each = [&](auto&& visit) {
    if (dense()) {
      for (const float logit : logits_) visit(logit);
    } else {
      for (const Candidate& candidate : list_) visit(candidate.logit);
    }
  };
  each(add);
  const double mean = sum / static_cast<double>(count);
  each([&](float logit) {
    if (logit == gone) return;
    const double off = static_cast<double>(logit) - mean;
    squares += off * off;
  });
  const double deviation = std::sqrt(squares / static_cast<double>(count));
  list_from(static_cast<float>(static_cast<double>(highest()) - n * deviation));
}

void Pool::top_k(size_t count) {
  if (dense()) list_from(floor_of_largest(scanned(), count));
  if (count >= list_.size()) return;
  std::nth_element(list_.begin(), list_.begin() + static_cast<std::ptrdiff_t>(count) - 1, list_.end(), better);
  list_.resize(count);
}

template <typename Before>
void Pool::keep_prefix(Before before, double wanted) {
  const float most = highest();
  double sum = 0;
  size_t kept = 0;
  for (size_t sorted = std::min<size_t>(256, list_.size());; sorted = std::min(sorted * 4, list_.size())) {
    std::partial_sort(list_.begin() + static_cast<std::ptrdiff_t>(kept),
                      list_.begin() + static_cast<std::ptrdiff_t>(sorted), list_.end(), before);
    while (kept < sorted && (kept == 0 || sum < wanted)) sum += weight(list_[kept++].logit, most);
    if (sum >= wanted || sorted == list_.size()) break;
  }
  list_.resize(kept);
}

void Pool::typical(double mass) {
  list_all();
  const double total = weigh();
  double entropy = 0;  // H = -sum p ln p, with ln p = ln weight - ln total
  for (const double each : weights_) {
    if (each > 0) entropy -= each / total * std::log(each / total);
  }
  const float most = highest();
  // |-ln p - H|; from the logits, so that it is exact where p underflows.
  const double shift = std::log(total) - entropy;
  const auto distance = [&](const Candidate& candidate) {
    return std::abs(shift - (static_cast<double>(candidate.logit) - static_cast<double>(most)) / temperature_);
  };
  keep_prefix(
      [&](const Candidate& a, const Candidate& b) {
        const double one = distance(a), other = distance(b);
        return one != other ? one < other : better(a, b);
      },
      mass * total * (1 - precision));
}

void Pool::top_p(double mass) {
  if (!dense()) {
    const double total = weigh();
    keep_prefix(better, mass * total * (1 - precision));
    return;
  }
  const float most = highest();
  const double total = exponential_sum(logits_, most, static_cast<float>(1 / temperature_));
  const double wanted = mass * total * (1 - precision);
  // Most of the mass is near the top: the rest is listed only when it is needed.
  for (double depth = 8;; depth *= 2) {
    list_.clear();
    const float floor = static_cast<float>(static_cast<double>(most) - depth * temperature_);
    gather(logits_, scanned(), std::max(floor, lowest), list_);
    double sum = 0;
    for (const Candidate& candidate : list_) sum += weight(candidate.logit, most);
    if (sum >= wanted || depth > 1e4) break;
  }
  listed_ = true;
  keep_prefix(better, wanted);
}

void Pool::min_p(double share) {
  list_from(static_cast<float>(static_cast<double>(highest()) + std::log(share) * temperature_));
}

void Pool::exclude_top(double threshold) {
  list_all();
  const double least = threshold * weigh();
  const auto reaches = [&](size_t i) { return weights_[i] >= least; };
  size_t stays = list_.size(), count = 0;
  for (size_t i = 0; i < list_.size(); ++i) {
    if (!reaches(i)) continue;
    ++count;
    if (stays == list_.size() || better(list_[stays], list_[i])) stays = i;
  }
  if (count < 2) return;
  size_t kept = 0;
  for (size_t i = 0; i < list_.size(); ++i) {
    if (i == stays || !reaches(i)) list_[kept++] = list_[i];
  }
  list_.resize(kept);
}

void Pool::temperature(double value, double range, double exponent) {
  double chosen = value;
  if (range > 0) {
    list_all();
    if (list_.size() < 2) return;
    const double total = weigh();
    double entropy = 0;
    for (const double each : weights_) {
      if (each > 0) entropy -= each / total * std::log(each / total);
    }
    const double least = std::max(0.0, value - range);
    const double share = std::clamp(entropy / std::log(static_cast<double>(list_.size())), 0.0, 1.0);
    chosen = least + (value + range - least) * std::pow(share, exponent);
  }
  if (chosen > 0) {
    temperature_ *= chosen;
  } else {
    keep_best();
  }
}

void Pool::keep_best() {
  if (dense()) list_from(scanned().highest);
  list_.assign(1, *std::ranges::min_element(list_, better));
}

int32_t Pool::draw(double random) {
  if (dense()) {
    dense_weights_.resize(logits_.size());
    const double total = exponentials(logits_, highest(), static_cast<float>(1 / temperature_), dense_weights_);
    double left = random * total;
    int32_t last = 0;
    for (size_t i = 0; i < logits_.size(); ++i) {
      if (dense_weights_[i] <= 0) continue;
      last = static_cast<int32_t>(i);
      left -= static_cast<double>(dense_weights_[i]);
      if (left < 0) break;
    }
    return last;
  }
  // A fixed order makes the draw depend on the numbers alone, not on how they were filtered.
  if (!std::ranges::is_sorted(list_, {}, &Candidate::id)) std::ranges::sort(list_, {}, &Candidate::id);
  double left = random * weigh();
  for (size_t i = 0; i < list_.size(); ++i) {
    left -= weights_[i];
    if (left < 0) return list_[i].id;
  }
  return list_.back().id;
}

std::vector<Choice> Pool::distribution() {
  list_all();
  std::ranges::sort(list_, better);
  const double total = weigh();
  std::vector<Choice> result;
  for (size_t i = 0; i < list_.size(); ++i) result.push_back({list_[i].id, weights_[i] / total});
  return result;
}

}  // namespace halogen::sample
