#include "native/engine/sample/sampler.h"

#ifdef __linux__
#include <sys/random.h>

#include <cerrno>
#else
#include <random>
#endif

#include "native/engine/error.h"
#include "native/engine/sample/random.h"

namespace halogen::sample {

uint64_t fresh_seed() {
  // 32 bits, which every client can show and send back.
#ifdef __linux__
  // std::random_device would ask for a C library of 2022: Ubuntu 22.04 has an older one.
  uint32_t seed = 0;
  if (getrandom(&seed, sizeof seed, 0) != sizeof seed) {
    throw Error(code::engine_unavailable, "The system gave no random number for the seed.", "Set a seed.",
                {{"errno", errno}});
  }
  return seed;
#else
  return std::random_device{}() & 0xffffffffu;
#endif
}

Sampler::Sampler(const Sampling& sampling, uint64_t seed)
    : sampling_(sampling), seed_(seed), steps_(steps(sampling.order)), penalties_(sampling), dry_(sampling) {}

int32_t Sampler::choose(const Input& input) {
  run(input);
  return pool_.draw(uniform(seed_, input.tokens.size()));
}

std::vector<Choice> Sampler::distribution(const Input& input) {
  run(input);
  return pool_.distribution();
}

void Sampler::run(const Input& input) {
  const Sampling& s = sampling_;
  pool_.fill(input.logits);
  if (!input.allowed.empty()) pool_.mask(input.allowed);
  for (const auto& [id, bias] : s.logit_bias) {
    pool_.change(id, [bias](float logit) { return static_cast<float>(static_cast<double>(logit) + bias); });
  }
  for (const int32_t id : s.suppress) pool_.remove(id);
  for (const int32_t id : input.banned) pool_.remove(id);
  pool_.require_some(input.logits);
  const Change change = [this](int32_t id, const std::function<float(float)>& to) { pool_.change(id, to); };
  for (const Step step : steps_) {
    switch (step) {
      case Step::penalties:
        if (!penalties_.on()) break;
        pool_.settle();
        penalties_.apply(input.tokens, change);
        break;
      case Step::dry:
        if (!dry_.on()) break;
        pool_.settle();
        dry_.apply(input.tokens, change);
        break;
      case Step::top_n_sigma:
        if (s.top_n_sigma > 0) pool_.top_n_sigma(s.top_n_sigma);
        break;
      case Step::top_k:
        if (s.top_k > 0) pool_.top_k(static_cast<size_t>(s.top_k));
        break;
      case Step::typical_p:
        if (s.typical_p < 1) pool_.typical(s.typical_p);
        break;
      case Step::top_p:
        if (s.top_p < 1) pool_.top_p(s.top_p);
        break;
      case Step::min_p:
        if (s.min_p > 0) pool_.min_p(s.min_p);
        break;
      case Step::xtc:
        // A draw of its own, as reproducible as the other.
        if (s.xtc_probability > 0 && uniform(mix(seed_ ^ 0x78746363u), input.tokens.size()) < s.xtc_probability)
          pool_.exclude_top(s.xtc_threshold);
        break;
      case Step::temperature:
        pool_.temperature(s.temperature, s.temperature_range, s.temperature_exponent);
        break;
    }
  }
}

}  // namespace halogen::sample
