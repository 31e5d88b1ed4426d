#include "native/engine/sample/scan.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>
#include <string>

#include "native/engine/error.h"

namespace halogen::sample {
namespace {

constexpr float minus_infinity = -std::numeric_limits<float>::infinity();
constexpr size_t lanes = 16;  // independent accumulators: the compiler may not reorder one

// exp(x) for -87 <= x <= 0 by Cody and Waite: x = n ln 2 + r, then a polynomial in r and n into the exponent.
inline float exponential(float x) {
  const float bounded = x > -87.0f ? x : -87.0f;
  constexpr float rounding = 12582912.0f;  // 1.5 * 2^23: adding it leaves the nearest integer in the low bits
  const float shifted = bounded * 1.44269504f + rounding;
  const float n = shifted - rounding;
  const float r = (bounded - n * 0.693359375f) - n * -2.12194440e-4f;
  float sum = 1.9875691500e-4f;  // Cephes' expf
  sum = sum * r + 1.3981999507e-3f;
  sum = sum * r + 8.3334519073e-3f;
  sum = sum * r + 4.1665795894e-2f;
  sum = sum * r + 1.6666665459e-1f;
  sum = sum * r + 5.0000001201e-1f;
  sum = sum * r * r + r + 1.0f;
  const int32_t exponent = std::bit_cast<int32_t>(shifted) - std::bit_cast<int32_t>(rounding);
  const float power = std::bit_cast<float>((exponent + 127) << 23);
  return x > -87.0f ? sum * power : 0.0f;
}

template <typename Keep>
double sum_of(std::span<const float> logits, float highest, float slope, Keep keep) {
  double total = 0;
  for (size_t begin = 0; begin < logits.size(); begin += 1024) {
    const size_t end = std::min(begin + 1024, logits.size());
    float sums[lanes] = {};
    size_t i = begin;
    for (; i + lanes <= end; i += lanes) {
      for (size_t lane = 0; lane < lanes; ++lane) {
        const float weight = exponential((logits[i + lane] - highest) * slope);
        keep(i + lane, weight);
        sums[lane] += weight;
      }
    }
    for (; i < end; ++i) {
      const float weight = exponential((logits[i] - highest) * slope);
      keep(i, weight);
      sums[0] += weight;
    }
    for (const float sum : sums) total += static_cast<double>(sum);
  }
  return total;
}

}  // namespace

void scan(std::span<const float> logits, Scan& result) {
  result.maxima.clear();
  float highest = minus_infinity;
  int not_numbers = 0;
  for (size_t begin = 0; begin < logits.size(); begin += scan_block) {
    const size_t end = std::min(begin + scan_block, logits.size());
    float most[lanes];
    int wrong[lanes] = {};
    std::fill(most, most + lanes, minus_infinity);
    size_t i = begin;
    for (; i + lanes <= end; i += lanes) {
      for (size_t lane = 0; lane < lanes; ++lane) {
        const float logit = logits[i + lane];
        most[lane] = logit > most[lane] ? logit : most[lane];
        wrong[lane] |= logit != logit ? 1 : 0;
      }
    }
    for (; i < end; ++i) {
      most[0] = logits[i] > most[0] ? logits[i] : most[0];
      wrong[0] |= logits[i] != logits[i] ? 1 : 0;
    }
    for (size_t lane = 1; lane < lanes; ++lane) most[0] = most[lane] > most[0] ? most[lane] : most[0];
    for (const int each : wrong) not_numbers |= each;
    result.maxima.push_back(most[0]);
    highest = most[0] > highest ? most[0] : highest;
  }
  result.highest = highest;
  result.not_numbers = not_numbers != 0;
}

void gather(std::span<const float> logits, const Scan& scanned, float floor, std::vector<Candidate>& kept) {
  for (size_t block = 0; block < scanned.maxima.size(); ++block) {
    if (!(scanned.maxima[block] >= floor)) continue;
    const size_t end = std::min((block + 1) * scan_block, logits.size());
    for (size_t i = block * scan_block; i < end; ++i) {
      if (logits[i] >= floor) kept.push_back({static_cast<int32_t>(i), logits[i]});
    }
  }
}

float floor_of_largest(const Scan& scanned, size_t count) {
  if (count == 0 || count > scanned.maxima.size()) return minus_infinity;
  std::vector<float> maxima = scanned.maxima;
  const auto place = maxima.begin() + static_cast<std::ptrdiff_t>(count) - 1;
  std::nth_element(maxima.begin(), place, maxima.end(), std::greater<>());
  return *place;
}

double exponentials(std::span<const float> logits, float highest, float slope, std::span<float> weights) {
  return sum_of(logits, highest, slope, [&](size_t i, float weight) { weights[i] = weight; });
}

double exponential_sum(std::span<const float> logits, float highest, float slope) {
  return sum_of(logits, highest, slope, [](size_t, float) {});
}

int32_t best(std::span<const float> logits) {
  Scan scanned;
  scan(logits, scanned);
  if (scanned.not_numbers || !std::isfinite(scanned.highest)) {
    const auto count = std::ranges::count_if(logits, [](float logit) { return logit != logit; });
    throw Error(code::model_not_finite,
                "The model's output is not a number for " + std::to_string(count) + " of " +
                    std::to_string(logits.size()) + " tokens.",
                "The model file may be damaged; download it again. If it stays, report it.",
                {{"notNumbers", count}, {"vocabulary", logits.size()}});
  }
  const auto block = std::ranges::find(scanned.maxima, scanned.highest) - scanned.maxima.begin();
  const auto begin = logits.begin() + block * static_cast<std::ptrdiff_t>(scan_block);
  return static_cast<int32_t>(std::find(begin, logits.end(), scanned.highest) - logits.begin());
}

double log_sum(std::span<const float> logits) {
  Scan scanned;
  scan(logits, scanned);
  return static_cast<double>(scanned.highest) + std::log(exponential_sum(logits, scanned.highest, 1));
}

std::vector<Candidate> largest(std::span<const float> logits, size_t count) {
  count = std::min(count, logits.size());
  Scan scanned;
  scan(logits, scanned);
  std::vector<Candidate> candidates;
  gather(logits, scanned, floor_of_largest(scanned, count), candidates);
  std::partial_sort(candidates.begin(), candidates.begin() + static_cast<std::ptrdiff_t>(count), candidates.end(),
                    better);
  candidates.resize(count);
  return candidates;
}

}  // namespace halogen::sample
