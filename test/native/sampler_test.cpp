// Each sampler against numbers worked out by hand from its published definition. Most tests start from p = {1/2, 1/4,
// 1/8, 1/16, 1/16}.
#include "native/engine/sample/sampler.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "test/native/check.h"
#include "test/native/maker.h"

using namespace halogen;
using namespace halogen::test;
using sample::Choice;
using sample::Sampler;

namespace {

using Wanted = std::vector<Choice>;

std::vector<float> halves() {
  std::vector<float> logits;
  for (const double p : {0.5, 0.25, 0.125, 0.0625, 0.0625}) logits.push_back(static_cast<float>(std::log(p)));
  return logits;
}

Sampling plain() {
  Sampling result;
  result.temperature = 1;
  return result;
}

void distributed(const Sampling& sampling, Sampler::Input input, const Wanted& wanted, const char* file, int line) {
  const std::vector<Choice> found = Sampler(sampling, 1).distribution(input);
  if (found.size() != wanted.size())
    fail(file, ":", line, ": ", found.size(), " tokens stay, expected ", wanted.size());
  for (size_t i = 0; i < wanted.size(); ++i) {
    if (found[i].id != wanted[i].id)
      fail(file, ":", line, ": place ", i, " has token ", found[i].id, ", expected ", wanted[i].id);
    if (std::abs(found[i].probability - wanted[i].probability) > 2e-6)
      fail(file, ":", line, ": token ", found[i].id, " has ", found[i].probability, ", expected ",
           wanted[i].probability);
  }
}

#define DISTRIBUTED(sampling, input, ...) distributed(sampling, input, Wanted __VA_ARGS__, __FILE__, __LINE__)

}  // namespace

TEST(sampler_temperature) {
  const std::vector<float> logits = halves();
  Sampling s = plain();
  DISTRIBUTED(s, {logits}, {{0, 0.5}, {1, 0.25}, {2, 0.125}, {3, 0.0625}, {4, 0.0625}});
  // p^(1/2) = 0.707107, 0.5, 0.353553, 0.25, 0.25; sum 2.060660.
  s.temperature = 2;
  DISTRIBUTED(s, {logits}, {{0, 0.343146}, {1, 0.242641}, {2, 0.171573}, {3, 0.121320}, {4, 0.121320}});
  // p^2 = 64, 16, 4, 1, 1 of 256; sum 86.
  s.temperature = 0.5;
  DISTRIBUTED(s, {logits}, {{0, 64.0 / 86}, {1, 16.0 / 86}, {2, 4.0 / 86}, {3, 1.0 / 86}, {4, 1.0 / 86}});
  s.temperature = 0;
  DISTRIBUTED(s, {logits}, {{0, 1}});
}

TEST(sampler_dynamic_temperature) {
  // H = -(0.8 ln 0.8 + 0.2 ln 0.2) = 0.500402, of at most ln 2: 0.721928. T = 0.5 + (1.5 - 0.5) 0.721928 = 1.221928;
  // 0.8^(1/T) : 0.2^(1/T) = 0.756671 : 0.243329. With exponent 2, T = 0.5 + 0.721928^2 = 1.021180.
  const std::vector<float> logits{std::log(0.8f), std::log(0.2f)};
  Sampling s = plain();
  s.temperature_range = 0.5;
  DISTRIBUTED(s, {logits}, {{0, 0.756671}, {1, 0.243329}});
  s.temperature_exponent = 2;
  DISTRIBUTED(s, {logits}, {{0, 0.795360}, {1, 0.204640}});
  // As likely as each other: all of the entropy, T = 2. Below: T = max(0, 0.25 - 1) + (1.25 - 0) 1 = 1.25.
  const std::vector<float> flat{3, 3, 3 - 2};
  s = plain();
  s.temperature = 0.25;
  s.temperature_range = 1;
  s.top_k = 2;
  DISTRIBUTED(s, {flat}, {{0, 0.5}, {1, 0.5}});
}

TEST(sampler_top_k) {
  Sampling s = plain();
  s.top_k = 3;
  DISTRIBUTED(s, {halves()}, {{0, 4.0 / 7}, {1, 2.0 / 7}, {2, 1.0 / 7}});
  s.top_k = 4;  // of two equals the lower id
  DISTRIBUTED(s, {halves()}, {{0, 8.0 / 15}, {1, 4.0 / 15}, {2, 2.0 / 15}, {3, 1.0 / 15}});
  s.top_k = 99;
  EQUAL(Sampler(s, 1).distribution({halves()}).size(), 5u);
}

TEST(sampler_top_p) {
  Sampling s = plain();
  s.top_p = 0.8;  // 0.5 + 0.25 < 0.8 <= 0.875
  DISTRIBUTED(s, {halves()}, {{0, 4.0 / 7}, {1, 2.0 / 7}, {2, 1.0 / 7}});
  s.top_p = 0.75;  // reached by two
  DISTRIBUTED(s, {halves()}, {{0, 2.0 / 3}, {1, 1.0 / 3}});
  s.top_p = 0.001;
  DISTRIBUTED(s, {halves()}, {{0, 1}});
  // On what top-k left: 4/7 + 2/7 = 0.857 reaches 0.8, which 0.75 of the whole does not.
  s.top_p = 0.8;
  s.top_k = 3;
  DISTRIBUTED(s, {halves()}, {{0, 2.0 / 3}, {1, 1.0 / 3}});
}

TEST(sampler_min_p) {
  Sampling s = plain();
  s.min_p = 0.2;  // at least 0.1
  DISTRIBUTED(s, {halves()}, {{0, 4.0 / 7}, {1, 2.0 / 7}, {2, 1.0 / 7}});
  s.min_p = 1;
  DISTRIBUTED(s, {halves()}, {{0, 1}});
}

TEST(sampler_typical) {
  // Surprise in bits 1, 2, 3, 4, 4; entropy 0.5 + 0.5 + 0.375 + 0.25 + 0.25 = 1.875 bits; distances 0.875,
  // 0.125, 1.125, 2.125, 2.125: the order is 1, 0, 2, 3, 4 with masses 0.25, 0.75, 0.875.
  Sampling s = plain();
  s.typical_p = 0.2;
  DISTRIBUTED(s, {halves()}, {{1, 1}});
  s.typical_p = 0.7;
  DISTRIBUTED(s, {halves()}, {{0, 2.0 / 3}, {1, 1.0 / 3}});
  s.typical_p = 0.8;
  DISTRIBUTED(s, {halves()}, {{0, 4.0 / 7}, {1, 2.0 / 7}, {2, 1.0 / 7}});
}

TEST(sampler_top_n_sigma) {
  // Logits -1, -2, -3, -4, -4 times ln 2: mean -2.8, variance (3.24 + 0.64 + 0.04 + 1.44 + 1.44) / 5 = 1.36,
  // sigma 1.166190. The floors are -2.166 and -3.332.
  Sampling s = plain();
  s.top_n_sigma = 1;
  DISTRIBUTED(s, {halves()}, {{0, 2.0 / 3}, {1, 1.0 / 3}});
  s.top_n_sigma = 2;
  DISTRIBUTED(s, {halves()}, {{0, 4.0 / 7}, {1, 2.0 / 7}, {2, 1.0 / 7}});
}

TEST(sampler_xtc) {
  // 1/2 and 1/4 reach 0.2: the larger goes. What stays, 1/4, 1/8, 1/16, 1/16, is half of all.
  Sampling s = plain();
  s.xtc_probability = 1;
  s.xtc_threshold = 0.2;
  DISTRIBUTED(s, {halves()}, {{1, 0.5}, {2, 0.25}, {3, 0.125}, {4, 0.125}});
  s.xtc_threshold = 0.3;  // one alone stays
  EQUAL(Sampler(s, 1).distribution({halves()}).front().id, 0);
  s.xtc_threshold = 0.2;
  s.temperature = 0;  // greedy on what is left
  EQUAL(Sampler(s, 1).choose({halves(), {}}), 1);
  // With probability 0.3 token 0 is gone, else it has 1/2: 0.35 in all; five deviations of 40,000 draws are 0.012.
  s.temperature = 1;
  s.xtc_probability = 0.3;
  Sampler sampler(s, 11);
  std::vector<int32_t> tokens;
  int count = 0;
  for (int i = 0; i < 40000; ++i) {
    tokens.push_back(0);
    count += sampler.choose({halves(), tokens}) == 0 ? 1 : 0;
  }
  CHECK(std::abs(count / 40000.0 - 0.35) < 0.012);
}

TEST(sampler_penalties) {
  // Repetition 2: 2 / 2 = 1 and -1 * 2 = -2; then 0.5 for each time and 0.25 once: 1 - 1 - 0.25 = -0.25, -2 - 0.5 -
  // 0.25 = -2.75, and 0.5. exp: 0.778801, 0.063928, 1.648721; sum 2.491450.
  const std::vector<float> logits{2, -1, 0.5};
  Sampling s = plain();
  s.repetition_penalty = 2;
  s.frequency_penalty = 0.5;
  s.presence_penalty = 0.25;
  std::vector<int32_t> tokens{0, 0, 1};
  DISTRIBUTED(s, (Sampler::Input{logits, tokens}), {{2, 0.661752}, {0, 0.312589}, {1, 0.025659}});
  s.penalty_last_n = 1;  // token 1 alone: 2, -2.75, 0.5; exp 7.389056, 0.063928, 1.648721; sum 9.101705
  DISTRIBUTED(s, (Sampler::Input{logits, tokens}), {{0, 0.811832}, {2, 0.181144}, {1, 0.007024}});
  s.penalty_last_n = 0;  // none: exp 7.389056, 0.367879, 1.648721; sum 9.405657
  DISTRIBUTED(s, (Sampler::Input{logits, tokens}), {{0, 0.785597}, {2, 0.175290}, {1, 0.039113}});
  // Counts follow a window that moves, as a sampler that starts afresh counts them.
  s.penalty_last_n = 7;
  Sampler moving(s, 1);
  Random random(3);
  for (int i = 0; i < 100; ++i) {
    tokens.push_back(static_cast<int32_t>(random.below(3)));
    distributed(s, {logits, tokens}, moving.distribution({logits, tokens}), __FILE__, __LINE__);
  }
}

TEST(sampler_dry) {
  // 1 2 3 has come before, followed by 4. Three repeated tokens, two allowed: 0.8 * 1.75^1 = 1.4; exp(-1.4) = 0.246597
  // of 5.246597.
  const std::vector<float> logits(6, 0);
  const std::vector<int32_t> tokens{1, 2, 3, 4, 0, 1, 2, 3};
  const Wanted hit{{0, 0.190600}, {1, 0.190600}, {2, 0.190600}, {3, 0.190600}, {5, 0.190600}, {4, 0.047001}};
  const Wanted even{{0, 1.0 / 6}, {1, 1.0 / 6}, {2, 1.0 / 6}, {3, 1.0 / 6}, {4, 1.0 / 6}, {5, 1.0 / 6}};
  // One token less: 0.8 * 1.75^0; exp(-0.8) = 0.449329 of 5.449329.
  const Wanted less{{0, 0.183509}, {1, 0.183509}, {2, 0.183509}, {3, 0.183509}, {5, 0.183509}, {4, 0.082456}};
  Sampling s = plain();
  s.dry_multiplier = 0.8;
  const auto check = [&](const Wanted& wanted, int line) { distributed(s, {logits, tokens}, wanted, __FILE__, line); };
  check(hit, __LINE__);
  s.dry_allowed_length = 4;
  check(even, __LINE__);
  s.dry_allowed_length = 2;
  s.dry_last_n = 7;  // 2 3 4 0 1 2 3
  check(less, __LINE__);
  s.dry_last_n = -1;
  s.dry_breakers = {0, -1};  // stands before the repetition
  check(hit, __LINE__);
  s.dry_breakers = {0, -1, 1, -1};  // 2 3 is left of it
  check(less, __LINE__);
  s.dry_breakers = {1, 2, -1};  // 3 is left
  check(even, __LINE__);
  s.dry_breakers = {1, 3, -1};  // does not occur
  check(hit, __LINE__);
  // Of several repetitions the longest counts: 2 5 once, 1 2 5 once; now 1 2 again: 5 would prolong 1 2.
  s.dry_breakers = {};
  distributed(s, {logits, std::vector<int32_t>{2, 5, 3, 1, 2, 5, 4, 1, 2}},
              {{0, 0.183509}, {1, 0.183509}, {2, 0.183509}, {3, 0.183509}, {4, 0.183509}, {5, 0.082456}}, __FILE__,
              __LINE__);
}

TEST(sampler_dry_of_one_token_again_and_again) {
  // 0 0 0 0: the last three repeat the first three. 1 * 2^(3 - 2) = 2 off; exp(-2) = 0.135335 of 1.135335.
  Sampling s = plain();
  s.dry_multiplier = 1;
  s.dry_base = 2;
  DISTRIBUTED(s, (Sampler::Input{std::vector<float>{0, 0}, std::vector<int32_t>{0, 0, 0, 0}}),
              {{1, 0.880797}, {0, 0.119203}});
  // A million of them cost so much that nothing but the other is left, and no infinity comes of it.
  const std::vector<int32_t> many(100000, 0);
  s.dry_base = 100;
  DISTRIBUTED(s, (Sampler::Input{std::vector<float>{0, 0}, many}), {{1, 1}, {0, 0}});
}

TEST(sampler_bias_suppression_bans_and_mask) {
  // +ln 2 for token 2: 1/2, 1/4, 1/4, 1/16, 1/16 of 9/8. Without 0 and 3: 4 : 4 : 1.
  Sampling s = plain();
  s.logit_bias = {{2, std::log(2.0)}};
  DISTRIBUTED(s, {halves()}, {{0, 4.0 / 9}, {1, 2.0 / 9}, {2, 2.0 / 9}, {3, 0.5 / 9}, {4, 0.5 / 9}});
  s.suppress = {0};
  const std::vector<int32_t> banned{3};
  DISTRIBUTED(s, (Sampler::Input{halves(), {}, banned}), {{1, 4.0 / 9}, {2, 4.0 / 9}, {4, 1.0 / 9}});
  const std::vector<uint32_t> allowed{0b10101};
  DISTRIBUTED(s, (Sampler::Input{halves(), {}, banned, allowed}), {{2, 0.8}, {4, 0.2}});
  s.suppress = {0, 2, 4};
  EQUAL(number(THROWS("request.invalid", Sampler(s, 1).choose({halves(), {}, banned, allowed})), "vocabulary"), 5);
  // A bias does not bring back what the mask took.
  s.suppress = {};
  s.logit_bias = {{1, 1000}};
  EQUAL(Sampler(s, 1).distribution({halves(), {}, {}, allowed}).size(), 3u);
}

TEST(sampler_order) {
  // Temperature 0.5 behind top-p 0.8 sharpens three tokens (16 : 4 : 1); before it, top-p sees 64 : 16 : 4 : 1 : 1 of
  // 86, and two tokens reach 0.8 (0.744 + 0.186).
  Sampling s = plain();
  s.temperature = 0.5;
  s.top_p = 0.8;
  DISTRIBUTED(s, {halves()}, {{0, 16.0 / 21}, {1, 4.0 / 21}, {2, 1.0 / 21}});
  s.order = {"temperature", "top_p"};
  DISTRIBUTED(s, {halves()}, {{0, 0.8}, {1, 0.2}});
  s.order = {"top_p"};  // no temperature: as it is
  DISTRIBUTED(s, {halves()}, {{0, 4.0 / 7}, {1, 2.0 / 7}, {2, 1.0 / 7}});
  // A presence penalty of 2 ln 2 behind the temperature: p^2 = 64 : 16 : 4 : 1 : 1, token 0 divided by 4: 16 : 16 : 4 :
  // 1 : 1.
  s.order = {"temperature", "penalties"};
  s.presence_penalty = 2 * std::log(2.0);
  const std::vector<int32_t> tokens{0};
  DISTRIBUTED(s, (Sampler::Input{halves(), tokens}),
              {{0, 16.0 / 38}, {1, 16.0 / 38}, {2, 4.0 / 38}, {3, 1.0 / 38}, {4, 1.0 / 38}});
  s.order = {"top_k", "penalties"};  // on a list
  s.top_k = 2;
  DISTRIBUTED(s, (Sampler::Input{halves(), tokens}), {{1, 2.0 / 3}, {0, 1.0 / 3}});
  s.order = {"top_k", "best_k"};
  EQUAL(text(THROWS("request.invalid", sample::check(s, 5)), "value"), "best_k");
  s.order = {"top_k", "dry", "top_k"};
  EQUAL(text(THROWS("request.invalid", sample::check(s, 5)), "value"), "top_k");
}

TEST(sampler_whole_chain) {
  // Penalty: token 0 loses ln 2: 1/4, 1/4, 1/8, 1/16, 1/16 of 3/4. Top-k 4 drops token 4; 4 : 4 : 2 : 1 of 11. Top-p
  // 0.9 needs 10/11 and drops 3. Min-p 0.6 drops 2 (0.5 of the best). Temperature keeps two equals equal.
  Sampling s = plain();
  s.presence_penalty = std::log(2.0);
  s.top_k = 4;
  s.top_p = 0.9;
  s.temperature = 0.7;
  const std::vector<int32_t> tokens{0};
  // 4 : 4 : 2 at 0.7: 2^(1 / 0.7) = 2.691800 : 2.691800 : 1.
  DISTRIBUTED(s, (Sampler::Input{halves(), tokens}), {{0, 0.421675}, {1, 0.421675}, {2, 0.156650}});
  s.min_p = 0.6;
  DISTRIBUTED(s, (Sampler::Input{halves(), tokens}), {{0, 0.5}, {1, 0.5}});
}

TEST(sampler_greedy_takes_the_lowest_of_equals) {
  Sampler sampler({}, 1);
  EQUAL(sampler.choose({std::vector<float>{0, 3, 3, -1}}), 1);
}

TEST(sampler_refuses_what_is_not_a_number) {
  Sampler sampler({}, 1);
  const float nan = std::numeric_limits<float>::quiet_NaN(), infinity = std::numeric_limits<float>::infinity();
  EQUAL(number(THROWS("model.not_finite", sampler.choose({std::vector<float>{0, nan, 1}})), "notNumbers"), 1);
  THROWS("model.not_finite", sampler.choose({std::vector<float>{nan, nan}}));
  THROWS("model.not_finite", sampler.choose({std::vector<float>{0, infinity}}));
  THROWS("model.not_finite", sampler.choose({std::vector<float>{-infinity, -infinity}}));
  EQUAL(sampler.choose({std::vector<float>{-infinity, 0}}), 1);
  // Also where a mask or a ban would hide it.
  const std::vector<uint32_t> allowed{0b101};
  const std::vector<int32_t> banned{1};
  THROWS("model.not_finite", sampler.choose({std::vector<float>{0, nan, 1}, {}, banned, allowed}));
}

TEST(sampler_refuses_values_out_of_range) {
  const double nan = std::numeric_limits<double>::quiet_NaN();
  std::vector<std::pair<std::string, Sampling>> cases;
  const auto add = [&](const std::string& name, auto set) {
    Sampling sampling;
    set(sampling);
    cases.emplace_back(name, sampling);
  };
  for (const double bad : {-1.0, nan, 1e9}) {
    add("temperature", [&](Sampling& s) { s.temperature = bad; });
    add("temperatureRange", [&](Sampling& s) { s.temperature_range = bad; });
    add("temperatureExponent", [&](Sampling& s) { s.temperature_exponent = bad; });
    add("topP", [&](Sampling& s) { s.top_p = bad; });
    add("minP", [&](Sampling& s) { s.min_p = bad; });
    add("typicalP", [&](Sampling& s) { s.typical_p = bad; });
    add("topNSigma", [&](Sampling& s) { s.top_n_sigma = bad; });
    add("xtcProbability", [&](Sampling& s) { s.xtc_probability = bad; });
    add("xtcThreshold", [&](Sampling& s) { s.xtc_threshold = bad; });
    add("repetitionPenalty", [&](Sampling& s) { s.repetition_penalty = bad; });
    add("dryMultiplier", [&](Sampling& s) { s.dry_multiplier = bad; });
    add("dryBase", [&](Sampling& s) { s.dry_base = bad; });
    add("presencePenalty", [&](Sampling& s) { s.presence_penalty = bad == -1 ? -101 : bad; });
    add("frequencyPenalty", [&](Sampling& s) { s.frequency_penalty = bad == -1 ? -101 : bad; });
    add("logitBias", [&](Sampling& s) { s.logit_bias = {{0, bad == -1 ? -1e5 : bad}}; });
  }
  add("topP", [](Sampling& s) { s.top_p = 0; });
  add("topK", [](Sampling& s) { s.top_k = -1; });
  add("penaltyLastN", [](Sampling& s) { s.penalty_last_n = -2; });
  add("dryLastN", [](Sampling& s) { s.dry_last_n = -2; });
  add("dryAllowedLength", [](Sampling& s) { s.dry_allowed_length = -1; });
  add("dryBreakers", [](Sampling& s) { s.dry_breakers = {1, 2}; });
  add("dryBreakers", [](Sampling& s) { s.dry_breakers = {-2, -1}; });
  for (const int32_t bad : {-1, 100}) {
    add("suppress", [&](Sampling& s) { s.suppress = {bad}; });
    add("logitBias", [&](Sampling& s) { s.logit_bias = {{bad, 1}}; });
  }
  for (const auto& [name, sampling] : cases)
    EQUAL(text(THROWS("request.invalid", sample::check(sampling, 100)), "parameter"), name);
  sample::check({}, 100);
}
