// What is left of the vocabulary while the chain runs. Each filter follows its published definition on the
// probabilities of what the one before it left; none leaves nothing.
#pragma once
#include <limits>
#include <span>
#include <vector>

#include "native/engine/sample/scan.h"

namespace halogen::sample {

struct Choice {
  int32_t id;
  double probability;
};

class Pool {
 public:
  // A view: the logits are copied when one changes, and become a list when a filter has dropped some. Tokens at
  // -infinity are not in the pool.
  void fill(std::span<const float> logits);

  // All tokens that `allowed` (bit id % 32 of word id / 32) lacks leave.
  void mask(std::span<const uint32_t> allowed);
  void remove(int32_t id);
  // Divides by the temperature so far, so that change() sees the logits as they count now.
  void settle();
  template <typename To>
  void change(int32_t id, To to);

  // Throws request.invalid when there is none; model.not_finite when a logit is NaN or none is finite.
  void require_some(std::span<const float> original);

  // Within n standard deviations (of all logits) of the largest logit (Tang et al. 2024).
  void top_n_sigma(double n);
  void top_k(size_t count);
  // The tokens whose surprise is nearest to the entropy, until their mass reaches `mass` (Meister et al. 2022).
  void typical(double mass);
  // The fewest tokens whose mass reaches `mass` (Holtzman et al. 2019).
  void top_p(double mass);
  // At least `share` times as likely as the likeliest (Nguyen et al. 2024).
  void min_p(double share);
  // Of the tokens with at least `threshold`, only the least likely stays (p-e-w 2024, "exclude top choices").
  void exclude_top(double threshold);
  // Divides all logits; 0 leaves the best alone. With a range, the temperature lies in [t - range, t + range] (not
  // below 0) at the entropy's share of the largest possible one, to the power of `exponent` (llama.cpp's dynamic
  // temperature).
  void temperature(double value, double range, double exponent);
  void keep_best();

  // `random` in [0, 1).
  int32_t draw(double random);
  // Best first.
  std::vector<Choice> distribution();

 private:
  bool dense() const { return !listed_; }
  std::span<float> own();
  void list_all();
  void list_from(float floor);
  const Scan& scanned();
  float highest();
  // exp((logit - highest) / temperature) of a token.
  double weight(float logit, float highest) const;
  // Of each in the list, into weights_; returns the sum.
  double weigh();
  // Keeps the shortest prefix in the order `before` whose weights reach `wanted`; sorts no further than it must.
  template <typename Before>
  void keep_prefix(Before before, double wanted);

  std::span<const float> logits_;
  std::vector<float> own_;
  bool owned_ = false;
  bool listed_ = false;
  bool scan_valid_ = false;
  Scan scan_;
  std::vector<Candidate> list_;  // ids ascending, unless sorted by a filter
  std::vector<double> weights_;
  std::vector<float> dense_weights_;
  double temperature_ = 1;
};

template <typename To>
void Pool::change(int32_t id, To to) {
  if (dense()) {
    float& logit = own()[static_cast<size_t>(id)];
    if (logit > -std::numeric_limits<float>::infinity()) logit = to(logit);
    return;
  }
  for (Candidate& candidate : list_) {
    if (candidate.id == id) candidate.logit = to(candidate.logit);
  }
}

}  // namespace halogen::sample
