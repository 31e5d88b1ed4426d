// Chooses the next token. First the tokens that may not come leave (mask, suppressed ones, ends before the least
// length) and biases are added; then the chain runs in Sampling::order: penalties, dry, top_n_sigma, top_k, typical_p,
// top_p, min_p, xtc, temperature unless told otherwise; then the draw. A step at its neutral value does nothing.
#pragma once
#include <span>
#include <vector>

#include "native/engine/engine.h"
#include "native/engine/sample/history.h"
#include "native/engine/sample/pool.h"

namespace halogen::sample {

// Throws request.invalid for values out of range, and for tokens outside the vocabulary.
void check(const Sampling& sampling, int64_t vocabulary);

enum class Step { penalties, dry, top_n_sigma, top_k, typical_p, top_p, min_p, xtc, temperature };

// Throws request.invalid for a name that is none or comes twice. Empty: the documented order.
std::vector<Step> steps(const std::vector<std::string>& order);

class Sampler {
 public:
  Sampler(const Sampling& sampling, uint64_t seed);

  struct Input {
    std::span<const float> logits = {};
    // The whole sequence so far; may only grow from call to call. Its length is the position that the draw depends on.
    std::span<const int32_t> tokens = {};
    // These may not come now.
    std::span<const int32_t> banned = {};
    // Bit id % 32 of word id / 32: may come. Empty: all may.
    std::span<const uint32_t> allowed = {};
  };

  // Throws model.not_finite when the logits are not finite numbers, request.invalid when no token is left.
  int32_t choose(const Input& input);
  // What choose() draws from, best first.
  std::vector<Choice> distribution(const Input& input);

 private:
  void run(const Input& input);

  const Sampling sampling_;
  const uint64_t seed_;
  const std::vector<Step> steps_;
  Penalties penalties_;
  Dry dry_;
  Pool pool_;
};

}  // namespace halogen::sample
