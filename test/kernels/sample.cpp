#include "test/kernels/sample.h"

#if __has_include(<sys/mman.h>)
#include <sys/mman.h>
#endif

#include <cmath>
#include <cstdio>
#include <limits>
#include <set>
#include <sstream>

#include "native/backend/cpu/feature.h"

namespace halogen::test {

void Buffer::advise_huge([[maybe_unused]] void* bytes, [[maybe_unused]] size_t size) {
#ifdef MADV_HUGEPAGE
  const auto from = (reinterpret_cast<uintptr_t>(bytes) + 4095) & ~uintptr_t{4095};
  const auto end = (reinterpret_cast<uintptr_t>(bytes) + size) & ~uintptr_t{4095};
  if (end > from) madvise(reinterpret_cast<void*>(from), end - from, MADV_HUGEPAGE);
#endif
}

const Layout& layout(const std::string& quant) {
  static const Layout layouts[] = {
      {"f32", 1, 4},
      {"f16", 1, 2},
      {"bf16", 1, 2},
      {"q4_0", 32, 18},
      {"q4_1", 32, 20, {0, 2}},
      {"q8_0", 32, 34},
      {"awq4", 128, 68, {0, 2}},
      {"q5_0", 32, 22, {0}, false},
      {"q5_1", 32, 24, {0, 2}, false},
      {"q2_k", 256, 84, {80, 82}, false},
      {"q3_k", 256, 110, {108}, false},
      {"q4_k", 256, 144, {0, 2}, false},
      {"q5_k", 256, 176, {0, 2}, false},
      {"q6_k", 256, 210, {208}, false},
      {"iq4_nl", 32, 18, {0}, false},
      {"iq4_xs", 256, 136, {0}, false},
      {"mxfp4", 32, 17, {}, false},
      {"tq1_0", 256, 54, {52}, false},
      {"tq2_0", 256, 66, {64}, false},
      {"nvfp4", 64, 36, {}, false},
      {"q1_0", 128, 18, {0}, false},
      {"q2_0", 64, 18, {0}, false},
      {"iq1_s", 256, 50, {0}, false},
      {"iq1_m", 256, 56, {}, false, {49, 51, 53, 55}},
      {"iq2_xxs", 256, 66, {0}, false},
      {"iq2_xs", 256, 74, {0}, false},
      {"iq2_s", 256, 82, {0}, false},
      {"iq3_xxs", 256, 98, {0}, false},
      {"iq3_s", 256, 110, {0}, false},
  };
  for (const Layout& candidate : layouts) {
    if (quant == candidate.quant) return candidate;
  }
  std::fprintf(stderr, "no layout of quant %s\n", quant.c_str());
  std::abort();
}

void set_scale(const Layout& form, uint8_t* block, uint16_t half) {
  if (!form.halves.empty()) std::memcpy(block + form.halves.front(), &half, 2);
  for (size_t i = 0; i < form.nibbles.size(); ++i) {
    uint8_t& byte = block[form.nibbles[i]];
    byte = static_cast<uint8_t>((byte & 15) | (half >> 4 * i & 15) << 4);
  }
}

float half_value(uint16_t bits) {
  const int exponent = bits >> 10 & 31;
  const int fraction = bits & 1023;
  const double sign = bits & 0x8000 ? -1 : 1;
  if (exponent == 31) {
    return static_cast<float>(fraction ? std::numeric_limits<double>::quiet_NaN()
                                       : sign * std::numeric_limits<double>::infinity());
  }
  return static_cast<float>(sign * (exponent ? std::ldexp(1024 + fraction, exponent - 25) : std::ldexp(fraction, -24)));
}

uint16_t half_bits(float value) {
  const uint16_t sign = std::signbit(value) ? 0x8000 : 0;
  const double size = std::fabs(static_cast<double>(value));
  if (!(size < 65520)) return static_cast<uint16_t>(sign | (std::isnan(value) ? 0x7e00 : 0x7c00));
  int exponent = 0;
  std::frexp(size, &exponent);
  const int power = exponent < -13 ? -24 : exponent - 11;  // of the last fraction bit
  const auto steps = static_cast<int>(std::nearbyint(std::ldexp(size, -power)));
  // A carry out of the fraction raises the exponent by itself.
  return static_cast<uint16_t>(sign | (steps + (power + 24) * 1024));
}

std::vector<float> random_floats(Random& random, int64_t count) {
  std::vector<float> values(static_cast<size_t>(count));
  for (float& value : values) value = random.normal();
  return values;
}

std::vector<uint8_t> random_blocks(Random& random, const std::string& quant, int64_t count) {
  const Layout& form = layout(quant);
  std::vector<uint8_t> bytes(static_cast<size_t>(count / form.block * form.bytes));
  for (uint8_t* block = bytes.data(); block < bytes.data() + bytes.size(); block += form.bytes) {
    const float value = 0.05f * random.normal();
    if (quant == "f32") {
      std::memcpy(block, &value, 4);
      continue;
    }
    if (quant == "bf16") {
      uint32_t bits;
      std::memcpy(&bits, &value, 4);
      const auto upper = static_cast<uint16_t>(bits >> 16);
      std::memcpy(block, &upper, 2);
      continue;
    }
    for (int64_t i = 0; i < form.bytes; ++i) block[i] = static_cast<uint8_t>(random.next() >> 56);
    if (!form.described) {
      set_scale(form, block, half_bits(value / 32));
      if (form.halves.size() > 1) {
        const uint16_t minimum = half_bits(value / 16);
        std::memcpy(block + form.halves[1], &minimum, 2);
      }
      if (!form.has_half()) block[0] = static_cast<uint8_t>(118 + block[0] % 6);  // a power of two
      continue;
    }
    const float peak = quant == "f16" ? value : quant == "q8_0" ? value / 127 : value / 8;
    const uint16_t scale = half_bits(peak);
    std::memcpy(block, &scale, 2);
    if (quant == "awq4") {
      const auto zero = static_cast<uint16_t>(random.next() >> 60);
      std::memcpy(block + 2, &zero, 2);
    }
    if (quant == "q4_1") {
      const uint16_t minimum = half_bits(-7.5f * peak + 0.01f * random.normal());
      std::memcpy(block + 2, &minimum, 2);
    }
  }
  return bytes;
}

namespace {

std::vector<double> reference_values(const std::string& quant, const uint8_t* blocks, int64_t count) {
  for (const kernel::Entry& entry : kernel::entries()) {
    if (entry.op != std::string("dequantize") || entry.quant != quant || entry.variant != std::string("reference"))
      continue;
    std::vector<float> values(static_cast<size_t>(count));
    reinterpret_cast<kernel::Dequantize>(entry.function)(blocks, values.data(), count);
    return {values.begin(), values.end()};
  }
  std::fprintf(stderr, "no reference dequantiser of %s\n", quant.c_str());
  std::abort();
}

}  // namespace

std::vector<double> exact_values(const std::string& quant, const uint8_t* blocks, int64_t count) {
  const Layout& form = layout(quant);
  if (!form.described) return reference_values(quant, blocks, count);
  std::vector<double> values(static_cast<size_t>(count));
  for (int64_t i = 0; i < count; ++i) {
    const uint8_t* block = blocks + i / form.block * form.bytes;
    const int64_t within = i % form.block;
    uint16_t words[2] = {0, 0};
    std::memcpy(words, block, form.bytes < 4 ? 2 : 4);
    const double scale = half_value(words[0]);
    double& value = values[static_cast<size_t>(i)];
    if (quant == "f32") {
      float single;
      std::memcpy(&single, block, 4);
      value = single;
    } else if (quant == "f16") {
      value = scale;
    } else if (quant == "bf16") {
      const uint32_t bits = static_cast<uint32_t>(words[0]) << 16;
      float single;
      std::memcpy(&single, &bits, 4);
      value = single;
    } else if (quant == "q8_0") {
      value = scale * static_cast<int8_t>(block[2 + within]);
    } else {
      const uint8_t both = block[(quant == "q4_0" ? 2 : 4) + within / 32 * 16 + within % 16];
      const int code = within % 32 < 16 ? both & 15 : both >> 4;
      value = quant == "q4_0"   ? scale * (code - 8)
              : quant == "awq4" ? scale * (code - words[1])
                                : scale * code + half_value(words[1]);
    }
  }
  return values;
}

std::string missing_features(const char* name) {
  static const std::set<std::string> present = backend::cpu::features();
  for (const kernel::Variant& variant : kernel::variants()) {
    if (std::strcmp(variant.name, name) != 0) continue;
    std::istringstream features(variant.features);
    std::string missing;
    for (std::string feature; features >> feature;) {
      if (!present.contains(feature)) missing += (missing.empty() ? "" : " ") + feature;
    }
    return missing;
  }
  std::fprintf(stderr, "no variant %s\n", name);
  std::abort();
}

}  // namespace halogen::test
