#include "native/engine/model/rope.h"

#include <algorithm>
#include <cmath>
#include <numbers>

namespace halogen::model {
namespace {

double yarn_magnitude(double factor, double weight) {
  return factor <= 1 ? 1 : 0.1 * weight * std::log(factor) + 1;
}

void read_yarn(const Header& header, double factor, Rope& rope) {
  if (rope.base <= 1) header.unsupported("YaRN with a rope base of 1");
  rope.yarn = true;
  rope.fast = header.real_or("rope.scaling.yarn_beta_fast", 32, 1e-3, 1e6);
  rope.slow = header.real_or("rope.scaling.yarn_beta_slow", 1, 1e-3, 1e6);
  // 1 is the method; between 0 and 1 it is mixed with plain interpolation, which no published model does.
  const double mix = header.real_or("rope.scaling.yarn_ext_factor", 1, -1, 1e6);
  if (mix >= 0 && mix != 1) header.unsupported("a partial YaRN extrapolation");
  const double all = header.real_or("rope.scaling.yarn_log_multiplier", 0, 0, 1e3);
  const double usual = yarn_magnitude(factor, 1) / yarn_magnitude(factor, all);
  rope.magnitude *= header.real_or("rope.scaling.yarn_attn_factor", usual, 1e-3, 1e3);
}

}  // namespace

Rope read_rope(const Header& header, Pairing pairing) {
  Rope rope;
  rope.pairing = pairing;
  rope.base = header.real_or("rope.freq_base", 10000, 1, 1e12);
  rope.magnitude = header.real_or("rope.scaling.attn_factor", 1, 1e-3, 1e3);
  const int64_t context = header.whole("context_length", 1, int64_t{1} << 31);
  rope.original = header.whole_or("rope.scaling.original_context_length", context, 1, int64_t{1} << 31);

  // Old files name no type and keep the factor under another key.
  const std::string scaling = header.string_or("rope.scaling.type", "linear");
  if (scaling == "none" || scaling == "longrope") return rope;
  if (scaling != "linear" && scaling != "yarn") header.unsupported("rope scaling \"" + scaling + "\"");
  double factor = header.real_or("rope.scaling.factor", header.real_or("rope.scale_linear", 1, 0, 1e6), 0, 1e6);
  if (factor == 0) factor = 1;
  rope.scale = 1 / factor;
  if (scaling == "yarn") read_yarn(header, factor, rope);
  return rope;
}

bool takes_long_factors(const Rope& rope, uint64_t context) {
  return rope.long_factors != nullptr && context > static_cast<uint64_t>(rope.original);
}

std::vector<double> rope_frequencies(const Rope& rope, std::span<const float> factors) {
  const double rotated = static_cast<double>(rope.rotated);
  // The pair that turns `turns` times within the original context.
  const auto border = [&](double turns) {
    return rotated * std::log(static_cast<double>(rope.original) / (turns * 2 * std::numbers::pi)) /
           (2 * std::log(rope.base));
  };
  double first = 0, last = 0;
  if (rope.yarn) {
    first = border(rope.fast);
    last = border(rope.slow);
    if (rope.whole_borders) {
      first = std::floor(first);
      last = std::ceil(last);
    }
    first = std::max(first, 0.0);
    last = std::min(last, rotated - 1);
    if (first == last) last += 0.001;
  }
  std::vector<double> frequencies;
  for (int64_t i = 0; i < rope.rotated / 2; ++i) {
    const double pair = static_cast<double>(i);
    double frequency = std::pow(rope.base, -2 * pair / rotated);
    if (!factors.empty()) frequency /= static_cast<double>(factors[static_cast<size_t>(i)]);
    const double kept = rope.yarn ? 1 - std::clamp((pair - first) / (last - first), 0.0, 1.0) : 0;
    frequencies.push_back(frequency * (rope.scale * (1 - kept) + kept));
  }
  return frequencies;
}

}  // namespace halogen::model
