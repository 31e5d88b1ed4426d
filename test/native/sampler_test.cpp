#include "native/engine/sample/sampler.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <set>

#include "native/engine/sample/random.h"
#include "test/native/check.h"
#include "test/native/maker.h"

using namespace halogen;
using namespace halogen::test;
using sample::Sampler;

namespace {

Sampling options(double temperature, int64_t top_k, double top_p, double min_p) {
  Sampling result;
  result.temperature = temperature;
  result.top_k = top_k;
  result.top_p = top_p;
  result.min_p = min_p;
  return result;
}

std::vector<float> some_logits(size_t count, uint64_t seed) {
  Random random(seed);
  std::vector<float> logits;
  for (size_t i = 0; i < count; ++i) logits.push_back(3 * random.normal());
  return logits;
}

std::map<int32_t, double> frequencies(const Sampling& sampling, const std::vector<float>& logits, int draws) {
  Sampler sampler(sampling, 42);
  std::map<int32_t, double> counts;
  for (int i = 0; i < draws; ++i) counts[sampler.choose(logits, static_cast<uint64_t>(i))] += 1.0 / draws;
  return counts;
}

// The distribution by definition: full sort, no short cuts.
std::map<int32_t, double> expected(const Sampling& sampling, const std::vector<float>& logits) {
  std::vector<std::pair<double, int32_t>> order;
  for (size_t i = 0; i < logits.size(); ++i)
    order.emplace_back(-static_cast<double>(logits[i]), static_cast<int32_t>(i));
  std::sort(order.begin(), order.end());
  if (sampling.top_k > 0) order.resize(std::min(order.size(), static_cast<size_t>(sampling.top_k)));
  double total = 0, sum = 0;
  for (const auto& [negative, id] : order) total += std::exp(-negative);
  size_t kept = 0;
  while (kept < order.size() && sum < sampling.top_p * total) sum += std::exp(-order[kept++].first);
  if (sampling.top_p < 1) order.resize(std::max<size_t>(kept, 1));
  const double highest = -order.front().first;
  if (sampling.min_p > 0)
    std::erase_if(order, [&](const auto& each) { return std::exp(-each.first - highest) < sampling.min_p; });
  std::map<int32_t, double> result;
  double mass = 0;
  for (const auto& [negative, id] : order) mass += std::exp((-negative - highest) / sampling.temperature);
  for (const auto& [negative, id] : order) result[id] = std::exp((-negative - highest) / sampling.temperature) / mass;
  return result;
}

}  // namespace

TEST(sampler_greedy_takes_the_lowest_of_equals) {
  Sampler sampler({}, 1);
  EQUAL(sampler.choose(std::vector<float>{0, 3, 3, -1}, 0), 1);
}

TEST(sampler_refuses_what_is_not_a_number) {
  Sampler sampler({}, 1);
  const float nan = std::numeric_limits<float>::quiet_NaN(), infinity = std::numeric_limits<float>::infinity();
  EQUAL(number(THROWS("internal", sampler.choose(std::vector<float>{0, nan, 1}, 0)), "notNumbers"), 1);
  THROWS("internal", sampler.choose(std::vector<float>{nan, nan}, 0));
  THROWS("internal", sampler.choose(std::vector<float>{0, infinity}, 0));
  THROWS("internal", sampler.choose(std::vector<float>{-infinity, -infinity}, 0));
  EQUAL(sampler.choose(std::vector<float>{-infinity, 0}, 0), 1);
}

TEST(sampler_draws_the_distribution) {
  const std::vector<float> logits = some_logits(60, 9);
  const Sampling cases[] = {
      options(1, 0, 1, 0),     options(0.7, 5, 1, 0),     options(1.5, 0, 0.8, 0),
      options(0.9, 0, 1, 0.1), options(1, 20, 0.9, 0.02),
  };
  for (const Sampling& sampling : cases) {
    const auto wanted = expected(sampling, logits);
    const auto found = frequencies(sampling, logits, 40000);
    for (const auto& [id, share] : found) {
      if (!wanted.contains(id)) fail("token ", id, " was drawn but is filtered out");
    }
    // Five standard deviations of a binomial share.
    for (const auto& [id, share] : wanted) {
      const double off = std::abs((found.contains(id) ? found.at(id) : 0) - share);
      if (off > 5 * std::sqrt(share * (1 - share) / 40000) + 1e-4)
        fail("token ", id, ": share off by ", off, " of ", share);
    }
  }
}

TEST(sampler_top_p_over_a_large_vocabulary) {
  // Flat enough that the mass spans several sorting rounds.
  std::vector<float> logits = some_logits(20000, 10);
  for (float& logit : logits) logit *= 0.1f;
  const Sampling sampling = options(1, 0, 0.5, 0);
  const auto wanted = expected(sampling, logits);
  Sampler sampler(sampling, 3);
  std::set<int32_t> seen;
  for (uint64_t i = 0; i < 3000; ++i) seen.insert(sampler.choose(logits, i));
  for (const int32_t id : seen) CHECK(wanted.contains(id));
  CHECK(seen.size() > 2000);
}

TEST(sampler_depends_on_seed_and_position_alone) {
  const std::vector<float> logits = some_logits(100, 12);
  const Sampling sampling = options(1, 0, 1, 0);
  Sampler straight(sampling, 77), forked(sampling, 77), other(sampling, 78);
  int same = 0;
  for (uint64_t i = 0; i < 50; ++i) {
    const int32_t id = straight.choose(logits, i);
    if (i >= 20) EQUAL(forked.choose(logits, i), id);
    same += other.choose(logits, i) == id ? 1 : 0;
  }
  CHECK(same < 25);
  double mean = 0;
  for (uint64_t i = 0; i < 10000; ++i) mean += sample::uniform(i % 7, i) / 10000;
  CHECK(std::abs(mean - 0.5) < 0.015);
  CHECK(sample::fresh_seed() < (uint64_t{1} << 53));
}

TEST(sampler_refuses_values_out_of_range) {
  const double nan = std::numeric_limits<double>::quiet_NaN();
  for (const Sampling& sampling :
       std::initializer_list<Sampling>{options(-1, 0, 1, 0), options(nan, 0, 1, 0), options(1e9, 0, 1, 0),
                                       options(0, -1, 1, 0), options(0, 0, 0, 0), options(0, 0, 1.1, 0),
                                       options(0, 0, nan, 0), options(0, 0, 1, -0.1), options(0, 0, 1, 2)}) {
    THROWS("request.invalid", sample::check(sampling));
  }
  sample::check({});
}

TEST(sampler_alternatives_are_ordered) {
  const std::vector<float> logits{1, 5, 3, 5, 2};
  const auto top = sample::largest(logits, 3);
  EQUAL(top[0].id, 1);
  EQUAL(top[1].id, 3);
  EQUAL(top[2].id, 2);
  EQUAL(sample::largest(logits, 99).size(), 5u);
  CHECK(std::abs(sample::log_sum(logits) - std::log(std::exp(1) + 2 * std::exp(5) + std::exp(3) + std::exp(2))) < 1e-6);
}
