// Element-wise rows and dequantisers against double.
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <fstream>
#include <iterator>

#include "test/kernels/check.h"
#include "test/kernels/sample.h"

namespace halogen::test {
namespace {

constexpr float kGuard = 4321.0f;
const int64_t kCounts[] = {1, 3, 7, 8, 15, 16, 17, 31, 64, 100, 576, 1536};

template <class Function>
Function function_of(const kernel::Entry& entry) {
  return reinterpret_cast<Function>(entry.function);
}

void check_rms_norm(const kernel::Entry& entry, Random& random, Report& report) {
  const auto norm = function_of<kernel::RmsNorm>(entry);
  for (const int64_t count : kCounts) {
    for (const float size : {1.0f, 1e-4f, 1e4f, 0.0f}) {
      for (const bool weighted : {true, false}) {
        std::vector<float> x = random_floats(random, count), weight = random_floats(random, count);
        for (float& value : x) value *= size;
        std::vector<float> out(static_cast<size_t>(count) + 1, kGuard);
        norm(x.data(), weighted ? weight.data() : nullptr, out.data(), count, 1e-5f);
        double square = 0;
        for (const float value : x) square += static_cast<double>(value) * static_cast<double>(value);
        const double factor = 1 / std::sqrt(square / static_cast<double>(count) + static_cast<double>(1e-5f));
        double worst = 0;
        for (int64_t i = 0; i < count; ++i) {
          const auto at = static_cast<size_t>(i);
          const double expected =
              static_cast<double>(x[at]) * factor * (weighted ? static_cast<double>(weight[at]) : 1);
          const double error = std::fabs(static_cast<double>(out[at]) - expected) / (std::fabs(expected) + 1e-12);
          if (!(error <= worst)) worst = error;
        }
        report.expect(worst, 2e-6, "rms_norm " + std::to_string(count));
        report.require(out.back() == kGuard, "rms_norm wrote beyond its end");
      }
    }
  }
}

void check_silu_mul(const kernel::Entry& entry, Random& random, Report& report) {
  const auto silu_mul = function_of<kernel::SiluMul>(entry);
  for (const int64_t count : kCounts) {
    for (const float size : {1.0f, 8.0f, 60.0f, 1000.0f}) {
      std::vector<float> gate = random_floats(random, count), up = random_floats(random, count);
      for (float& value : gate) value *= size;
      std::vector<float> out(static_cast<size_t>(count) + 1, kGuard);
      silu_mul(gate.data(), up.data(), out.data(), count);
      double worst = 0;
      for (size_t i = 0; i < static_cast<size_t>(count); ++i) {
        const auto g = static_cast<double>(gate[i]);
        const double expected = g / (1 + std::exp(-g)) * static_cast<double>(up[i]);
        const double error = std::fabs(static_cast<double>(out[i]) - expected) / (std::fabs(expected) + 1e-25);
        // Far below zero only the size matters: e^-g itself has lost digits.
        const double measured = g < -20 ? std::fabs(static_cast<double>(out[i]) - expected) : error;
        if (!(measured <= worst)) worst = measured;
      }
      report.expect(worst, 4e-6, "silu_mul " + std::to_string(count) + " size " + std::to_string(size));
      report.require(out.back() == kGuard, "silu_mul wrote beyond its end");
      silu_mul(gate.data(), up.data(), gate.data(), count);
      report.require(std::equal(gate.begin(), gate.end(), out.begin()), "silu_mul in place differs");
    }
  }
}

void check_gelu_mul(const kernel::Entry& entry, Random& random, Report& report) {
  const auto gelu_mul = function_of<kernel::GeluMul>(entry);
  for (const int64_t count : kCounts) {
    for (const float size : {1.0f, 4.0f, 60.0f, 1e15f}) {
      std::vector<float> gate = random_floats(random, count), up = random_floats(random, count);
      for (float& value : gate) value *= size;
      std::vector<float> out(static_cast<size_t>(count) + 1, kGuard);
      gelu_mul(gate.data(), up.data(), out.data(), count);
      double worst = 0;
      for (size_t i = 0; i < static_cast<size_t>(count); ++i) {
        const auto g = static_cast<double>(gate[i]);
        const double inner = std::sqrt(2 / std::acos(-1.0)) * (g + 0.044715 * g * g * g);
        const double expected = 0.5 * g * (1 + std::tanh(inner)) * static_cast<double>(up[i]);
        const double error = std::fabs(static_cast<double>(out[i]) - expected);
        // Far below zero 1 + tanh has lost its digits in double too.
        const double measured = g < -3 ? error : error / (std::fabs(expected) + 1e-25);
        if (!(measured <= worst)) worst = measured;
      }
      report.expect(worst, 4e-6, "gelu_mul " + std::to_string(count) + " size " + std::to_string(size));
      report.require(out.back() == kGuard, "gelu_mul wrote beyond its end");
      gelu_mul(gate.data(), up.data(), gate.data(), count);
      report.require(std::equal(gate.begin(), gate.end(), out.begin()), "gelu_mul in place differs");
    }
  }
}

void check_clamped_mul(const kernel::Entry& entry, Random& random, Report& report) {
  const auto clamped_mul = function_of<kernel::ClampedMul>(entry);
  for (const int64_t count : kCounts) {
    for (const float size : {1.0f, 4.0f, 60.0f, 1e15f}) {
      std::vector<float> gate = random_floats(random, count), up = random_floats(random, count);
      for (float& value : gate) value *= size;
      for (float& value : up) value *= size;
      std::vector<float> out(static_cast<size_t>(count) + 1, kGuard);
      clamped_mul(gate.data(), up.data(), out.data(), count);
      double worst = 0;
      for (size_t i = 0; i < static_cast<size_t>(count); ++i) {
        const double g = std::min(static_cast<double>(gate[i]), 7.0);
        const double u = std::clamp(static_cast<double>(up[i]), -7.0, 7.0);
        const double expected = g / (1 + std::exp(-1.702 * g)) * (u + 1);
        const double error = std::fabs(static_cast<double>(out[i]) - expected) / (1 + std::fabs(expected));
        if (!(error <= worst)) worst = error;
      }
      report.expect(worst, 4e-6, "clamped_mul " + std::to_string(count) + " size " + std::to_string(size));
      report.require(out.back() == kGuard, "clamped_mul wrote beyond its end");
      clamped_mul(gate.data(), up.data(), gate.data(), count);
      report.require(std::equal(gate.begin(), gate.end(), out.begin()), "clamped_mul in place differs");
    }
  }
}

void check_squared_relu_mul(const kernel::Entry& entry, Random& random, Report& report) {
  const auto squared_relu_mul = function_of<kernel::SquaredReluMul>(entry);
  for (const int64_t count : kCounts) {
    std::vector<float> gate = random_floats(random, count), up = random_floats(random, count);
    std::vector<float> out(static_cast<size_t>(count) + 1, kGuard);
    squared_relu_mul(gate.data(), up.data(), out.data(), count);
    double worst = 0;
    for (size_t i = 0; i < static_cast<size_t>(count); ++i) {
      const double g = std::max(static_cast<double>(gate[i]), 0.0);
      const double expected = g * g * static_cast<double>(up[i]);
      const double error = std::fabs(static_cast<double>(out[i]) - expected) / (std::fabs(expected) + 1e-25);
      if (!(error <= worst)) worst = error;
    }
    report.expect(worst, 4e-6, "squared_relu_mul " + std::to_string(count));
    report.require(out.back() == kGuard, "squared_relu_mul wrote beyond its end");
    squared_relu_mul(gate.data(), up.data(), gate.data(), count);
    report.require(std::equal(gate.begin(), gate.end(), out.begin()), "squared_relu_mul in place differs");
  }
}

void check_softcap(const kernel::Entry& entry, Random& random, Report& report) {
  const auto softcap = function_of<kernel::Softcap>(entry);
  for (const int64_t count : kCounts) {
    for (const float size : {1e-3f, 1.0f, 100.0f, 1e30f}) {
      std::vector<float> x = random_floats(random, count);
      for (float& value : x) value *= size;
      const std::vector<float> before = x;
      x.push_back(kGuard);
      softcap(x.data(), 30.0f, count);
      double worst = 0;
      for (size_t i = 0; i < before.size(); ++i) {
        const double error = std::fabs(static_cast<double>(x[i]) - 30 * std::tanh(static_cast<double>(before[i]) / 30));
        if (!(error <= worst)) worst = error;
      }
      report.expect(worst, 1e-5, "softcap " + std::to_string(count) + " size " + std::to_string(size));
      report.require(x.back() == kGuard, "softcap wrote beyond its end");
    }
  }
}

void check_add(const kernel::Entry& entry, Random& random, Report& report) {
  const auto add = function_of<kernel::Add>(entry);
  for (const int64_t count : kCounts) {
    std::vector<float> x = random_floats(random, count), y = random_floats(random, count);
    std::vector<float> expected;
    for (size_t i = 0; i < x.size(); ++i) expected.push_back(x[i] + y[i]);
    x.push_back(kGuard);
    expected.push_back(kGuard);
    add(x.data(), y.data(), count);
    report.require(x == expected, "add " + std::to_string(count));
  }
}

void check_rope(const kernel::Entry& entry, Random& random, Report& report) {
  const auto rope = function_of<kernel::Rope>(entry);
  struct Shape {
    int64_t heads, head_dim, rotated;
  };
  for (const Shape& shape :
       {Shape{9, 64, 64}, {3, 128, 128}, {2, 80, 80}, {1, 256, 64}, {3, 20, 14}, {2, 6, 2}, {1, 96, 36}}) {
    for (const bool neox : {false, true}) {
      std::vector<float> x = random_floats(random, shape.heads * shape.head_dim);
      const std::vector<float> before = x;
      x.push_back(kGuard);
      std::vector<float> cosine, sine;
      for (int64_t i = 0; i < shape.rotated / 2; ++i) {
        const double angle = 6 * random.uniform();
        cosine.push_back(static_cast<float>(std::cos(angle)));
        sine.push_back(static_cast<float>(std::sin(angle)));
      }
      rope(x.data(), shape.heads, shape.head_dim, shape.rotated, cosine.data(), sine.data(), neox);
      std::vector<double> expected(before.begin(), before.end());
      for (int64_t head = 0; head < shape.heads; ++head) {
        for (int64_t i = 0; i < shape.rotated / 2; ++i) {
          const auto a = static_cast<size_t>(head * shape.head_dim + (neox ? i : 2 * i));
          const auto b = static_cast<size_t>(head * shape.head_dim + (neox ? i + shape.rotated / 2 : 2 * i + 1));
          const double c = cosine[static_cast<size_t>(i)], s = sine[static_cast<size_t>(i)];
          expected[a] = before[a] * c - before[b] * s;
          expected[b] = before[a] * s + before[b] * c;
        }
      }
      double worst = 0;
      for (size_t i = 0; i < expected.size(); ++i) {
        const double error = std::fabs(static_cast<double>(x[i]) - expected[i]);
        if (!(error <= worst)) worst = error;
      }
      report.expect(worst, 1e-6,
                    "rope dim " + std::to_string(shape.head_dim) + " rotated " + std::to_string(shape.rotated));
      report.require(x.back() == kGuard, "rope wrote beyond its end");
    }
  }
}

// Angles and pairs as files have them; expected: the definition in double, pair by pair.
void check_rotate(const kernel::Entry& entry, Random& random, Report& report) {
  const auto rotate = function_of<kernel::Rotate>(entry);
  constexpr int64_t group = kernel::Rotation::group;
  for (const int64_t columns : {group, 3 * group, 16 * group}) {
    for (const int64_t rounds : {1, 2, 7, 8}) {
      const auto places = static_cast<size_t>(rounds * columns);
      std::vector<float> x = random_floats(random, columns), scale = random_floats(random, columns);
      std::vector<float> cosine(places), sine(places);
      std::vector<uint8_t> partner(places);
      std::vector<double> expected;
      for (size_t c = 0; c < x.size(); ++c)
        expected.push_back(static_cast<double>(x[c]) * static_cast<double>(scale[c]));
      for (int64_t r = 0; r < rounds; ++r) {
        for (int64_t begin = 0; begin < columns; begin += group) {
          std::vector<size_t> left;
          for (int64_t i = 0; i < group; ++i) left.push_back(static_cast<size_t>(i));
          while (!left.empty()) {
            size_t pair[2];
            for (size_t& each : pair) {
              const size_t index = random.next() % left.size();
              each = left[index];
              left.erase(left.begin() + static_cast<std::ptrdiff_t>(index));
            }
            const double angle = 6 * random.uniform();
            const auto at = static_cast<size_t>(r * columns + begin);
            for (const size_t each : {0, 1}) {
              partner[at + pair[each]] = static_cast<uint8_t>(pair[1 - each]);
              cosine[at + pair[each]] = static_cast<float>(std::cos(angle));
              sine[at + pair[each]] = static_cast<float>(each == 0 ? std::sin(angle) : -std::sin(angle));
            }
            double &a = expected[static_cast<size_t>(begin) + pair[0]],
                   &b = expected[static_cast<size_t>(begin) + pair[1]];
            const double turned = a * std::cos(angle) + b * std::sin(angle);
            b = b * std::cos(angle) - a * std::sin(angle);
            a = turned;
          }
        }
      }
      std::vector<float> out(x.size() + 1, kGuard);
      rotate(x.data(), out.data(), {scale.data(), cosine.data(), sine.data(), partner.data(), columns, rounds});
      double worst = 0;
      for (size_t c = 0; c < x.size(); ++c) {
        const double error = std::fabs(static_cast<double>(out[c]) - expected[c]);
        if (!(error <= worst)) worst = error;
      }
      report.expect(worst, 6e-6, "rotate " + std::to_string(columns) + " in " + std::to_string(rounds) + " rounds");
      report.require(out.back() == kGuard, "rotate wrote beyond its end");
    }
  }
}

// The nearest value of the type with `mantissa` bits below the leading one, ties to even; in double, so exact.
double rounded(double value, int mantissa) {
  int exponent = 0;
  std::frexp(value, &exponent);
  const double step = std::ldexp(1.0, std::max(exponent - 1, mantissa == 10 ? -14 : -126) - mantissa);
  return std::nearbyint(value / step) * step;
}

// Each run of n values, n the largest power of two in their count up to 256, times the matrix of signs of the parity of
// i & j.
std::vector<double> rotated(const std::vector<float>& x) {
  const size_t n = std::min<size_t>(x.size() & (~x.size() + 1), 256);
  std::vector<double> out;
  for (size_t i = 0; i < x.size(); ++i) {
    double sum = 0;
    for (size_t j = 0; j < n; ++j) {
      const auto value = static_cast<double>(x[i / n * n + j]);
      sum += __builtin_popcountll(i % n & j) % 2 == 0 ? value : -value;
    }
    out.push_back(sum / std::sqrt(static_cast<double>(n)));
  }
  return out;
}

double kept_value(const std::string& type, const uint8_t* row, size_t i, float scale) {
  if (type == "q8_0") return static_cast<double>(scale) * static_cast<int8_t>(row[i]);
  if (type == "f32") {
    float value;
    std::memcpy(&value, row + i * 4, sizeof value);
    return static_cast<double>(value);
  }
  uint16_t bits;
  std::memcpy(&bits, row + i * 2, sizeof bits);
  if (type == "f16") return static_cast<double>(half_value(bits));
  const uint32_t wide = static_cast<uint32_t>(bits) << 16;
  float value;
  std::memcpy(&value, &wide, sizeof value);
  return static_cast<double>(value);
}

void check_kv_store(const kernel::Entry& entry, Random& random, Report& report) {
  const auto store = function_of<kernel::KvStore>(entry);
  const std::string type = entry.quant;
  const int64_t page_tokens = 5, slot = 3;
  const size_t element = type == "f32" ? 4 : type == "q8_0" ? 1 : 2;
  for (const int64_t count : kCounts) {
    for (const float size : {1.0f, 1e-3f, 300.0f, 0.0f}) {
      std::vector<float> x = random_floats(random, count);
      for (float& value : x) value *= size;
      x[0] *= 1e-6f;
      const auto scales = static_cast<size_t>((page_tokens * count + 63) / 64 * 64);
      const size_t bytes =
          type == "q8_0" ? scales + page_tokens * 4 : static_cast<size_t>(page_tokens * count) * element;
      std::vector<uint8_t> page(bytes + 16, 0x5a);
      store(x.data(), page.data(), slot, page_tokens, count);
      const std::string where = "kv_store " + std::to_string(count) + " size " + std::to_string(size);
      float scale = 1;
      std::vector<double> wanted = type == "q8_0" ? rotated(x) : std::vector<double>(x.begin(), x.end());
      double peak = 0;
      for (const double value : wanted) peak = std::max(peak, std::fabs(value));
      if (type == "q8_0") {
        std::memcpy(&scale, page.data() + scales + slot * 4, sizeof scale);
        report.expect(std::fabs(static_cast<double>(scale) - peak / 127), 1e-6 * peak / 127 + 1e-30, where + ": scale");
        std::memset(page.data() + scales + slot * 4, 0x5a, sizeof scale);
      }
      uint8_t* row = page.data() + static_cast<size_t>(slot * count) * element;
      double worst = 0;
      for (size_t i = 0; i < x.size(); ++i) {
        const double kept = kept_value(type, row, i, scale);
        // Q8_0: half a step, and the rounding of the floats that are rotated.
        const double error = type == "q8_0"  ? std::fabs(kept - wanted[i]) / (0.5 * peak / 127 + 1e-6 * peak + 1e-30)
                             : type == "f32" ? std::fabs(kept - wanted[i])
                                             : std::fabs(kept - rounded(wanted[i], type == "f16" ? 10 : 7));
        if (!(error <= worst)) worst = error;
      }
      report.expect(worst, type == "q8_0" ? 1.0 : 1e-300, where);
      std::memset(row, 0x5a, static_cast<size_t>(count) * element);
      report.require(std::ranges::all_of(page, [](uint8_t byte) { return byte == 0x5a; }),
                     where + ": wrote beyond its row");
    }
  }
}

double dequantize_error(const kernel::Entry& entry, const uint8_t* blocks, const std::vector<double>& expected,
                        Report& report) {
  std::vector<float> out(expected.size() + 1, kGuard);
  function_of<kernel::Dequantize>(entry)(blocks, out.data(), static_cast<int64_t>(expected.size()));
  report.require(out.back() == kGuard, "dequantize wrote beyond its end");
  double worst = 0;
  for (size_t i = 0; i < expected.size(); ++i) {
    const auto value = static_cast<double>(out[i]);
    if (std::isnan(expected[i]) && std::isnan(value)) continue;
    if (value == expected[i]) continue;
    const double error = std::fabs(value - expected[i]) / (std::fabs(expected[i]) + 1e-6);
    if (!(error <= worst)) worst = error;
  }
  return worst;
}

}  // namespace

void check_dequantize(const kernel::Entry& entry, Report& report) {
  Random random(11);
  const Layout& form = layout(entry.quant);
  for (const int64_t blocks : {1, 2, 3, 7, 16, 19, 64}) {
    std::vector<uint8_t> bytes = random_blocks(random, entry.quant, blocks * form.block);
    // GGUF gives no more alignment than two bytes.
    bytes.insert(bytes.begin(), 2, 0);
    const auto expected = exact_values(entry.quant, bytes.data() + 2, blocks * form.block);
    report.expect(dequantize_error(entry, bytes.data() + 2, expected, report), 3e-7,
                  std::to_string(blocks) + " blocks");
  }
  if (form.bytes < 4 && std::string(entry.quant) == "f16") {
    std::vector<uint16_t> every(65536);
    for (size_t i = 0; i < every.size(); ++i) every[i] = static_cast<uint16_t>(i);
    const auto* bytes = reinterpret_cast<const uint8_t*>(every.data());
    report.expect(dequantize_error(entry, bytes, exact_values("f16", bytes, 65536), report), 1e-30, "every half");
  }
}

// File: "HGBLOCK1", then per format: name char[8], elements uint32, bytes uint32, blocks, float[elements].
void check_golden_blocks(const kernel::Entry& entry, const std::string& path, Report& report) {
  std::ifstream file(path, std::ios::binary);
  const std::vector<char> content((std::istreambuf_iterator<char>(file)), std::istreambuf_iterator<char>());
  if (content.size() < 8 || std::memcmp(content.data(), "HGBLOCK1", 8) != 0) {
    report.require(false, "no golden blocks at " + path);
    return;
  }
  bool found = false;
  for (size_t at = 8; at + 16 <= content.size();) {
    char name[9] = {};
    uint32_t sizes[2];
    std::memcpy(name, content.data() + at, 8);
    std::memcpy(sizes, content.data() + at + 8, 8);
    const size_t blocks = at + 16, values = blocks + sizes[1];
    at = values + size_t{4} * sizes[0];
    if (at > content.size()) break;
    if (std::string(entry.quant) != name) continue;
    found = true;
    std::vector<float> expected(sizes[0]);
    std::memcpy(expected.data(), content.data() + values, size_t{4} * sizes[0]);
    const auto* bytes = reinterpret_cast<const uint8_t*>(content.data() + blocks);
    report.expect(dequantize_error(entry, bytes, {expected.begin(), expected.end()}, report), 3e-7, "golden blocks");
  }
  report.require(found, "the golden file has no blocks of this format");
}

void check_element(const kernel::Entry& entry, Report& report) {
  Random random(13);
  const std::string op = entry.op;
  if (op == "rms_norm") check_rms_norm(entry, random, report);
  if (op == "silu_mul") check_silu_mul(entry, random, report);
  if (op == "gelu_mul") check_gelu_mul(entry, random, report);
  if (op == "squared_relu_mul") check_squared_relu_mul(entry, random, report);
  if (op == "clamped_mul") check_clamped_mul(entry, random, report);
  if (op == "softcap") check_softcap(entry, random, report);
  if (op == "add") check_add(entry, random, report);
  if (op == "rope") check_rope(entry, random, report);
  if (op == "rotate") check_rotate(entry, random, report);
  if (op == "kv_store") check_kv_store(entry, random, report);
}

}  // namespace halogen::test
