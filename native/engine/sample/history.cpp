#include "native/engine/sample/history.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace halogen::sample {
namespace {

size_t window_of(int64_t last_n) {
  return last_n < 0 ? std::numeric_limits<size_t>::max() : static_cast<size_t>(last_n);
}

}  // namespace

Penalties::Penalties(const Sampling& sampling)
    : repetition_(sampling.repetition_penalty),
      presence_(sampling.presence_penalty),
      frequency_(sampling.frequency_penalty),
      window_(window_of(sampling.penalty_last_n)),
      on_(window_ > 0 && (repetition_ != 1 || presence_ != 0 || frequency_ != 0)) {}

void Penalties::apply(std::span<const int32_t> tokens, const Change& change) {
  const size_t from = tokens.size() > window_ ? tokens.size() - window_ : 0;
  for (; to_ < tokens.size(); ++to_) ++counts_[tokens[to_]];
  for (; from_ < from; ++from_) {
    const auto found = counts_.find(tokens[from_]);
    if (--found->second == 0) counts_.erase(found);
  }
  for (const auto& [id, count] : counts_) {
    change(id, [&, times = static_cast<double>(count)](float logit) {
      const double value = static_cast<double>(logit);
      const double repeated = value > 0 ? value / repetition_ : value * repetition_;
      return static_cast<float>(repeated - times * frequency_ - presence_);
    });
  }
}

Dry::Dry(const Sampling& sampling)
    : multiplier_(sampling.dry_multiplier),
      base_(sampling.dry_base),
      allowed_(static_cast<size_t>(sampling.dry_allowed_length)),
      window_(window_of(sampling.dry_last_n)) {
  std::vector<int32_t> sequence;
  for (const int32_t id : sampling.dry_breakers) {
    if (id >= 0) {
      sequence.push_back(id);
    } else if (!sequence.empty()) {
      breakers_[sequence.front()].emplace_back(sequence.begin() + 1, sequence.end());
      sequence.clear();
    }
  }
}

size_t Dry::unbroken(std::span<const int32_t> tokens) const {
  for (size_t i = tokens.size(); i-- > 0;) {
    const auto found = breakers_.find(tokens[i]);
    if (found == breakers_.end()) continue;
    const size_t behind = tokens.size() - i - 1;
    size_t longest = 0;
    bool broken = false;
    for (const std::vector<int32_t>& rest : found->second) {
      if (rest.size() > behind ||
          !std::equal(rest.begin(), rest.end(), tokens.begin() + static_cast<std::ptrdiff_t>(i) + 1))
        continue;
      longest = std::max(longest, rest.size());
      broken = true;
    }
    if (broken) return behind - longest;
  }
  return tokens.size();
}

void Dry::apply(std::span<const int32_t> tokens, const Change& change) {
  if (tokens.size() > window_) tokens = tokens.subspan(tokens.size() - window_);
  const size_t count = tokens.size();
  if (count < 2) return;
  const size_t most = unbroken(tokens);
  if (most < std::max<size_t>(allowed_, 1)) return;

  // match_[i]: how many tokens before position i + 1 are the same as the last ones of all; the Z function (Gusfield
  // 1997) read backwards.
  match_.assign(count, 0);
  const auto back = [&](size_t i) { return tokens[count - 1 - i]; };
  size_t left = 0, right = 0;
  for (size_t i = 1; i < count; ++i) {
    size_t length = i < right ? std::min(right - i, match_[i - left]) : 0;
    while (i + length < count && back(length) == back(i + length)) ++length;
    if (i + length > right) {
      left = i;
      right = i + length;
    }
    match_[i] = length;
  }
  std::unordered_map<int32_t, size_t> longest;  // repetition that each token would prolong
  for (size_t i = 1; i < count; ++i) {
    const size_t length = std::min(match_[i], most);
    if (length < allowed_ || length == 0) continue;
    size_t& known = longest[back(i - 1)];
    known = std::max(known, length);
  }
  for (const auto& [id, length] : longest) {
    const double loss = multiplier_ * std::pow(base_, static_cast<double>(length - allowed_));
    change(id, [&](float logit) {
      return static_cast<float>(
          std::max(static_cast<double>(logit) - loss, -static_cast<double>(std::numeric_limits<float>::max())));
    });
  }
}

}  // namespace halogen::sample
