// What a request may ask of the sampler.
#include <algorithm>
#include <array>
#include <cmath>
#include <string>
#include <string_view>

#include "native/engine/sample/sampler.h"

namespace halogen::sample {
namespace {

constexpr std::array<std::string_view, 9> names{"penalties", "dry",   "top_n_sigma", "top_k",      "typical_p",
                                                "top_p",     "min_p", "xtc",         "temperature"};

std::string text(double value) {
  std::string digits = std::to_string(value);
  if (digits.find('.') == std::string::npos) return digits;
  while (digits.back() == '0') digits.pop_back();
  if (digits.back() == '.') digits.pop_back();
  return digits;
}

void range(const char* name, double value, double least, double most, bool least_too = true) {
  if ((least_too ? value >= least : value > least) && value <= most) return;
  throw Error(code::request_invalid,
              std::string("Sampling value ") + name + " is " + text(value) + "; it must be " +
                  (least_too ? "from " : "above ") + text(least) + (least_too ? " to " : ", at most ") + text(most) +
                  ".",
              "", {{"parameter", name}, {"value", value}, {"least", least}, {"most", most}});
}

void token(const char* name, int64_t id, int64_t vocabulary) {
  if (id >= 0 && id < vocabulary) return;
  throw Error(code::request_invalid,
              std::string("Token ") + std::to_string(id) + " of " + name + " is not in the model's vocabulary of " +
                  std::to_string(vocabulary) + ".",
              "", {{"parameter", name}, {"token", id}, {"vocabulary", vocabulary}});
}

}  // namespace

std::vector<Step> steps(const std::vector<std::string>& order) {
  std::vector<Step> result;
  if (order.empty()) {
    for (size_t i = 0; i < names.size(); ++i) result.push_back(static_cast<Step>(i));
    return result;
  }
  for (const std::string& name : order) {
    const auto found = std::ranges::find(names, name);
    if (found == names.end())
      throw Error(code::request_invalid, "There is no sampler \"" + name + "\".",
                  "There are: penalties, dry, top_n_sigma, top_k, typical_p, top_p, min_p, xtc, temperature.",
                  {{"parameter", "order"}, {"value", name}});
    const Step step = static_cast<Step>(found - names.begin());
    if (std::ranges::find(result, step) != result.end())
      throw Error(code::request_invalid, "The sampler \"" + name + "\" comes twice in the order.", "",
                  {{"parameter", "order"}, {"value", name}});
    result.push_back(step);
  }
  return result;
}

void check(const Sampling& sampling, int64_t vocabulary) {
  constexpr double whole = 2147483647;
  range("temperature", sampling.temperature, 0, 100);
  range("temperatureRange", sampling.temperature_range, 0, 100);
  range("temperatureExponent", sampling.temperature_exponent, 0, 100, false);
  range("topK", static_cast<double>(sampling.top_k), 0, whole);
  range("topP", sampling.top_p, 0, 1, false);
  range("minP", sampling.min_p, 0, 1);
  range("typicalP", sampling.typical_p, 0, 1, false);
  range("topNSigma", sampling.top_n_sigma, 0, 100);
  range("xtcProbability", sampling.xtc_probability, 0, 1);
  range("xtcThreshold", sampling.xtc_threshold, 0, 1);
  range("repetitionPenalty", sampling.repetition_penalty, 0, 100, false);
  range("presencePenalty", sampling.presence_penalty, -100, 100);
  range("frequencyPenalty", sampling.frequency_penalty, -100, 100);
  range("penaltyLastN", static_cast<double>(sampling.penalty_last_n), -1, whole);
  range("dryMultiplier", sampling.dry_multiplier, 0, 100);
  range("dryBase", sampling.dry_base, 1, 100);
  range("dryAllowedLength", static_cast<double>(sampling.dry_allowed_length), 0, whole);
  range("dryLastN", static_cast<double>(sampling.dry_last_n), -1, whole);
  for (const int32_t id : sampling.dry_breakers) {
    if (id != -1) token("dryBreakers", id, vocabulary);
  }
  if (!sampling.dry_breakers.empty() && sampling.dry_breakers.back() != -1)
    throw Error(code::request_invalid, "The last sequence of dryBreakers has no end (-1).", "",
                {{"parameter", "dryBreakers"}});
  for (const auto& [id, bias] : sampling.logit_bias) {
    token("logitBias", id, vocabulary);
    range("logitBias", bias, -10000, 10000);
  }
  for (const int32_t id : sampling.suppress) token("suppress", id, vocabulary);
  steps(sampling.order);
}

}  // namespace halogen::sample
