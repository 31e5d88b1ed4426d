// Samplers over many tokens: the short cuts against plain definitions, draws against their distribution, passes over a
// vocabulary.
#include <algorithm>
#include <cmath>
#include <map>

#include "native/engine/sample/random.h"
#include "native/engine/sample/sampler.h"
#include "native/engine/sample/stops.h"
#include "test/native/check.h"
#include "test/native/maker.h"

using namespace halogen;
using namespace halogen::test;
using sample::Choice;
using sample::Sampler;

namespace {

std::vector<float> some_logits(size_t count, uint64_t seed, float width = 3) {
  Random random(seed);
  std::vector<float> logits;
  for (size_t i = 0; i < count; ++i) logits.push_back(width * random.normal());
  return logits;
}

// By definition: full sorts in double, no short cuts.
std::map<int32_t, double> by_definition(const Sampling& s, const std::vector<float>& logits) {
  struct Token {
    int32_t id;
    double logit, weight;
  };
  std::vector<Token> order;
  for (size_t i = 0; i < logits.size(); ++i)
    order.push_back({static_cast<int32_t>(i), static_cast<double>(logits[i]), 0});
  std::ranges::stable_sort(order, [](const Token& a, const Token& b) { return a.logit > b.logit; });
  const double highest = order.front().logit;
  const auto weigh = [&](double temperature) {
    double total = 0;
    for (Token& token : order) total += token.weight = std::exp((token.logit - highest) / temperature);
    return total;
  };
  const auto cut = [&](double wanted) {
    double sum = 0;
    size_t kept = 0;
    while (kept < order.size() && sum < wanted) sum += order[kept++].weight;
    order.resize(kept);
  };
  if (s.top_k > 0) order.resize(std::min(order.size(), static_cast<size_t>(s.top_k)));
  if (s.typical_p < 1) {
    const double total = weigh(1);
    double entropy = 0;
    for (const Token& token : order) entropy -= token.weight / total * std::log(token.weight / total);
    std::ranges::stable_sort(order, {},
                             [&](const Token& t) { return std::abs(-std::log(t.weight / total) - entropy); });
    cut(s.typical_p * total);
    std::ranges::stable_sort(order, [](const Token& a, const Token& b) { return a.logit > b.logit; });
  }
  if (s.top_p < 1) cut(s.top_p * weigh(1));
  if (s.min_p > 0) {
    const double most = order.front().logit;
    std::erase_if(order, [&](const Token& token) { return std::exp(token.logit - most) < s.min_p; });
  }
  const double mass = weigh(s.temperature);
  std::map<int32_t, double> result;
  for (const Token& token : order) result[token.id] = token.weight / mass;
  return result;
}

Sampling options(double temperature, int64_t top_k, double top_p, double min_p, double typical_p = 1) {
  Sampling result;
  result.temperature = temperature;
  result.top_k = top_k;
  result.top_p = top_p;
  result.min_p = min_p;
  result.typical_p = typical_p;
  return result;
}

}  // namespace

TEST(sampler_large_vocabularies_by_definition) {
  const Sampling cases[] = {
      options(1, 0, 1, 0),        options(0.7, 50, 1, 0),     options(1, 1000, 0.9, 0), options(1, 0, 0.5, 0),
      options(1.3, 0, 0.999, 0),  options(1, 0, 1, 0.01),     options(2, 0, 1, 0, 0.4), options(0.8, 40, 0.95, 0.05),
      options(1, 500, 1, 0, 0.9), options(1, 0, 1 - 1e-5, 0),
  };
  for (const size_t count : {size_t{1}, size_t{63}, size_t{64}, size_t{1000}, size_t{20000}}) {
    for (const float width : {0.3f, 3.0f}) {
      const std::vector<float> logits = some_logits(count, count + 5, width);
      for (const Sampling& sampling : cases) {
        const auto wanted = by_definition(sampling, logits);
        const auto found = Sampler(sampling, 1).distribution({logits});
        // A mass that is short by float's precision has been reached: what that drops must be as little.
        double dropped = 1;
        for (const Choice& choice : found) {
          if (!wanted.contains(choice.id)) fail("token ", choice.id, " should be gone");
          const double share = wanted.at(choice.id);
          if (std::abs(choice.probability - share) > 1e-5 * share + 1e-9)
            fail("token ", choice.id, " of ", count, " has ", choice.probability, ", expected ", share);
          dropped -= share;
        }
        if (std::abs(dropped) > 5e-7) fail(found.size(), " of ", count, " tokens stay, and ", dropped, " is dropped");
      }
    }
  }
}

TEST(sampler_draws_its_distribution) {
  const std::vector<float> logits = some_logits(60, 9);
  Sampling everything = options(1.2, 30, 0.95, 0.001, 0.98);
  everything.repetition_penalty = 1.2;
  everything.dry_multiplier = 0.5;
  everything.top_n_sigma = 3;
  everything.logit_bias = {{7, 2}};
  everything.suppress = {8};
  const Sampling cases[] = {
      options(1, 0, 1, 0),     options(0.7, 5, 1, 0),     options(1.5, 0, 0.8, 0),
      options(0.9, 0, 1, 0.1), options(1, 20, 0.9, 0.02), everything,
  };
  constexpr int draws = 40000;
  for (Sampling sampling : cases) {
    // The penalties see the same six tokens each time; only the position moves.
    sampling.penalty_last_n = sampling.dry_last_n = 6;
    Sampler sampler(sampling, 42);
    std::vector<int32_t> tokens{1, 2, 3, 1, 2, 3};
    const auto wanted = sampler.distribution({logits, tokens});
    std::map<int32_t, double> found;
    for (int i = 0; i < draws; ++i) {
      tokens.insert(tokens.end(), {1, 2, 3});
      found[sampler.choose({logits, tokens})] += 1.0 / draws;
    }
    double seen = 0;
    for (const auto& [id, probability] : wanted) {
      const double share = found.contains(id) ? found.at(id) : 0;
      seen += share;
      // Five standard deviations of a binomial share.
      if (std::abs(share - probability) > 5 * std::sqrt(probability * (1 - probability) / draws) + 1e-4)
        fail("token ", id, " was drawn ", share, " of all times, expected ", probability);
    }
    CHECK(std::abs(seen - 1) < 1e-9);
  }
}

TEST(sampler_depends_on_seed_and_position_alone) {
  const std::vector<float> logits = some_logits(100, 12);
  Sampling sampling = options(1, 0, 1, 0);
  sampling.xtc_probability = 0.5;
  Sampler straight(sampling, 77), forked(sampling, 77), other(sampling, 78);
  int same = 0;
  std::vector<int32_t> tokens;
  for (size_t i = 0; i < 50; ++i) {
    const int32_t id = straight.choose({logits, tokens});
    if (i >= 20) EQUAL(forked.choose({logits, tokens}), id);
    same += other.choose({logits, tokens}) == id ? 1 : 0;
    tokens.push_back(id);
  }
  CHECK(same < 25);
  double mean = 0;
  for (uint64_t i = 0; i < 10000; ++i) mean += sample::uniform(i % 7, i) / 10000;
  CHECK(std::abs(mean - 0.5) < 0.015);
  CHECK(sample::fresh_seed() < (uint64_t{1} << 53));
}

TEST(sampler_alternatives_are_ordered) {
  const std::vector<float> logits{1, 5, 3, 5, 2};
  const auto top = sample::largest(logits, 3);
  EQUAL(top[0].id, 1);
  EQUAL(top[1].id, 3);
  EQUAL(top[2].id, 2);
  EQUAL(sample::largest(logits, 99).size(), 5u);
  CHECK(std::abs(sample::log_sum(logits) - std::log(std::exp(1) + 2 * std::exp(5) + std::exp(3) + std::exp(2))) < 1e-6);
  const std::vector<float> many = some_logits(5000, 4);
  auto sorted = many;
  std::ranges::sort(sorted, std::greater<>());
  const auto best = sample::largest(many, 300);
  for (size_t i = 0; i < 300; ++i) EQUAL(best[i].logit, sorted[i]);
}

TEST(sampler_exponentials_are_exact_to_float) {
  std::vector<float> logits;
  for (int i = 0; i <= 9000; ++i) logits.push_back(static_cast<float>(-i) * 0.01f);
  std::vector<float> weights(logits.size());
  sample::exponentials(logits, 0, 1, weights);
  for (size_t i = 0; i < logits.size(); ++i) {
    const double exact = std::exp(static_cast<double>(logits[i]));
    if (logits[i] > -87 && std::abs(static_cast<double>(weights[i]) - exact) > 2.5e-7 * exact)
      fail("exp(", logits[i], ") is ", weights[i]);
    if (logits[i] <= -87) EQUAL(weights[i], 0.0f);
  }
}

TEST(stops_hold_back_what_may_be_a_beginning) {
  const sample::Stops stops({{1, 2, 3}, {2, 4}, {5}});
  const auto held = [&](std::vector<int32_t> generated) { return stops.held(generated); };
  EQUAL(held({}), 0u);
  EQUAL(held({7, 1}), 1u);
  EQUAL(held({1, 1, 2}), 2u);  // also the beginning of 2 4, but the longer one counts
  EQUAL(held({7, 2}), 1u);
  EQUAL(held({1, 2, 7}), 0u);
  const auto ending = [&](std::vector<int32_t> generated, size_t least = 0) {
    const auto found = stops.ending(generated, least);
    return found ? static_cast<int>(found->index) : -1;
  };
  EQUAL(ending({9, 1, 2, 3}), 0);
  EQUAL(ending({1, 2, 4}), 1);
  EQUAL(ending({5}), 2);
  EQUAL(ending({2, 3}), -1);
  EQUAL(ending({9, 1, 2, 3}, 1), 0);
  EQUAL(ending({9, 1, 2, 3}, 2), -1);
  EQUAL(sample::Stops({}).held(std::vector<int32_t>{1}), 0u);
}
