// matmul rows against exact products of the dequantised weights, in double.
#include <algorithm>
#include <cmath>
#include <limits>

#include "test/kernels/check.h"
#include "test/kernels/sample.h"

namespace halogen::test {
namespace {

// What a row may do to the activations: nothing, or 16-bit codes per block of 32 with the peak at 32639.
enum class Activation { kFloat, kInt16 };

struct Tolerance {
  const char* variant;
  const char* quant;  // "" for every other
  Activation activation;
  // Against the exact product of the activations as the row holds them, in units of sum |w x|.
  double rounding;
  // Root mean square of (error / (|w row| * rms(x))), on normally distributed activations.
  double relative;
};

// A step of peak / 32639 is uniform noise of 0.29 steps: 2e-5, where 8-bit codes would give 5e-3.
const Tolerance kTolerances[] = {
    {"reference", "", Activation::kFloat, 2e-7, 1e-7}, {"avx2", "f32", Activation::kFloat, 4e-6, 2e-6},
    {"avx2", "f16", Activation::kFloat, 4e-6, 2e-6},   {"avx2", "bf16", Activation::kFloat, 4e-6, 2e-6},
    {"avx2", "", Activation::kInt16, 4e-6, 2.5e-5},    {"avx512", "f32", Activation::kFloat, 4e-6, 2e-6},
    {"avx512", "f16", Activation::kFloat, 4e-6, 2e-6}, {"avx512", "bf16", Activation::kFloat, 4e-6, 2e-6},
    {"avx512", "", Activation::kInt16, 4e-6, 2.5e-5},
};

const Tolerance& tolerance(const kernel::Entry& entry) {
  for (const Tolerance& row : kTolerances) {
    if (row.variant == std::string(entry.variant) && (*row.quant == 0 || row.quant == std::string(entry.quant)))
      return row;
  }
  std::fprintf(stderr, "no tolerance for matmul %s %s\n", entry.quant, entry.variant);
  std::abort();
}

std::vector<double> as_held(const std::vector<float>& x, Activation activation) {
  std::vector<double> held(x.begin(), x.end());
  if (activation == Activation::kFloat) return held;
  for (size_t block = 0; block < x.size(); block += 32) {
    float peak = 0;
    for (size_t i = block; i < block + 32; ++i) peak = std::max(peak, std::fabs(x[i]));
    const float scale = peak / 32639.0f;
    const float inverse = peak > 0 ? 32639.0f / peak : 0.0f;
    for (size_t i = block; i < block + 32; ++i) {
      held[i] = static_cast<double>(scale) * static_cast<double>(std::nearbyintf(x[i] * inverse));
    }
  }
  return held;
}

struct Case {
  std::string name;
  int64_t rows, columns, tokens;
  std::vector<uint8_t> weights;
  std::vector<float> x;  // [tokens][columns]
};

constexpr float kUntouched = 12345.0f;

// Packs, prepares and runs in two ranges each, in unaligned and padded surroundings, as threads would.
std::vector<float> product(const kernel::Matmul& matmul, const Case& sample, Report& report) {
  const int64_t x_stride = sample.columns + 3, out_stride = sample.rows + 5;
  std::vector<float> x(static_cast<size_t>(sample.tokens * x_stride), std::numeric_limits<float>::quiet_NaN());
  for (int64_t t = 0; t < sample.tokens; ++t) {
    std::copy_n(sample.x.begin() + t * sample.columns, sample.columns, x.begin() + t * x_stride);
  }
  std::vector<uint8_t> shifted(sample.weights.size() + 2);
  const int64_t shift = matmul.pack ? 1 : 2;
  std::copy(sample.weights.begin(), sample.weights.end(), shifted.begin() + shift);
  const int64_t row_cut = sample.rows / 2 / matmul.row_granule * matmul.row_granule;
  const int64_t token_cut = sample.tokens / 2 / matmul.token_granule * matmul.token_granule;
  Buffer packed(matmul.packed_bytes(sample.rows, sample.columns));
  const void* weights = shifted.data() + shift;
  if (matmul.pack) {
    matmul.pack(shifted.data() + shift, packed.data(), sample.rows, sample.columns, 0, row_cut);
    matmul.pack(shifted.data() + shift, packed.data(), sample.rows, sample.columns, row_cut, sample.rows);
    weights = packed.data();
  }
  Buffer activations(matmul.activation_bytes(sample.columns, sample.tokens));
  if (token_cut > 0) {
    matmul.prepare(x.data(), x_stride, activations.data(), sample.columns, sample.tokens, 0, token_cut);
  }
  matmul.prepare(x.data(), x_stride, activations.data(), sample.columns, sample.tokens, token_cut, sample.tokens);
  Buffer scratch(matmul.scratch_bytes(sample.columns, sample.tokens));
  std::vector<float> out(static_cast<size_t>(sample.tokens * out_stride), kUntouched);
  kernel::MatmulRun run{weights,
                        activations.data(),
                        out.data(),
                        out_stride,
                        sample.rows,
                        sample.columns,
                        0,
                        row_cut,
                        sample.tokens,
                        reinterpret_cast<float*>(scratch.data())};
  if (row_cut > 0) matmul.run(run);
  run.row_begin = row_cut;
  run.row_end = sample.rows;
  matmul.run(run);
  report.require(packed.intact() && activations.intact() && scratch.intact(), sample.name + ": wrote beyond a buffer");
  bool clean = true;
  std::vector<float> result;
  for (int64_t t = 0; t < sample.tokens; ++t) {
    for (int64_t r = 0; r < out_stride; ++r) {
      const float value = out[static_cast<size_t>(t * out_stride + r)];
      if (r < sample.rows)
        result.push_back(value);
      else
        clean = clean && value == kUntouched;
    }
  }
  report.require(clean, sample.name + ": wrote beyond its rows");
  return result;
}

void compare(const kernel::Entry& entry, const Case& sample, bool normal, Report& report) {
  const Tolerance& limit = tolerance(entry);
  const std::vector<float> out = product(*static_cast<const kernel::Matmul*>(entry.data), sample, report);
  const std::vector<double> w = exact_values(entry.quant, sample.weights.data(), sample.rows * sample.columns);
  const std::vector<double> held = as_held(sample.x, limit.activation);
  double worst = 0, square = 0;
  for (int64_t t = 0; t < sample.tokens; ++t) {
    for (int64_t r = 0; r < sample.rows; ++r) {
      const double* row = w.data() + r * sample.columns;
      double expected = 0, size = 0, exact = 0, row_square = 0, x_square = 0;
      for (int64_t c = 0; c < sample.columns; ++c) {
        const auto at = static_cast<size_t>(t * sample.columns + c);
        expected += row[c] * held[at];
        size += std::fabs(row[c] * held[at]);
        exact += row[c] * static_cast<double>(sample.x[at]);
        row_square += row[c] * row[c];
        x_square += held[at] * held[at];
      }
      const auto value = static_cast<double>(out[static_cast<size_t>(t * sample.rows + r)]);
      const double error = std::fabs(value - expected) / (size + 1e-30);
      if (!(error <= worst)) worst = error;
      const double unit = row_square * x_square / static_cast<double>(sample.columns);
      square += (value - exact) * (value - exact) / (unit + 1e-60);
    }
  }
  report.expect(worst, limit.rounding, sample.name + " rounding");
  // A mean needs many outputs.
  const int64_t outputs = sample.rows * sample.tokens;
  if (normal && outputs >= 250) {
    report.expect(std::sqrt(square / static_cast<double>(outputs)), limit.relative, sample.name + " relative");
  }
}

int64_t whole_blocks(const Layout& form, int64_t columns) {
  return (columns + form.block - 1) / form.block * form.block;
}

Case random_case(Random& random, const std::string& quant, int64_t rows, int64_t columns, int64_t tokens) {
  return {std::to_string(rows) + "x" + std::to_string(columns) + " tokens " + std::to_string(tokens),
          rows,
          columns,
          tokens,
          random_blocks(random, quant, rows * columns),
          random_floats(random, tokens * columns)};
}

// Weights: all codes at an end, zero, negative or tiny scales. Activations: zero, constant, one spike per block, tiny.
void adversarial(const kernel::Entry& entry, Random& random, Report& report) {
  const std::string quant = entry.quant;
  const Layout& form = layout(quant);
  for (int weights = 0; weights < 5; ++weights) {
    for (int activations = 0; activations < 4; ++activations) {
      Case sample = random_case(random, quant, 19, whole_blocks(form, 96), 11);
      sample.name = "adversarial weights " + std::to_string(weights) + " activations " + std::to_string(activations);
      for (uint8_t* block = sample.weights.data();
           form.block > 1 && block < sample.weights.data() + sample.weights.size(); block += form.bytes) {
        const uint16_t scales[] = {half_bits(0.01f), half_bits(-0.01f), 0, 1, 0x7bff};
        const uint8_t ends[] = {0x00, 0xff, 0x80, 0x7f, 0x81}, powers[] = {120, 119, 0, 1, 140};
        // A minimum keeps what random_case gave it.
        uint16_t minimum = 0;
        if (form.halves.size() > 1) std::memcpy(&minimum, block + form.halves[1], 2);
        std::memset(block, ends[weights], static_cast<size_t>(form.bytes));
        if (!form.has_half()) block[0] = powers[weights];
        set_scale(form, block, scales[weights]);
        if (form.halves.size() > 1) std::memcpy(block + form.halves[1], &minimum, 2);
      }
      for (size_t i = 0; i < sample.x.size(); ++i) {
        if (activations == 0) sample.x[i] = 0;
        if (activations == 1) sample.x[i] = -1.5f;
        if (activations == 2) sample.x[i] = i % 32 == 7 ? 1000.0f : 1e-3f * sample.x[i];
        if (activations == 3) sample.x[i] *= 1e-30f;
      }
      compare(entry, sample, false, report);
    }
  }
}

// A NaN or infinite scale spoils its own row and no other, and ends.
void poisoned(const kernel::Entry& entry, Random& random, Report& report) {
  const std::string quant = entry.quant;
  const Layout& form = layout(quant);
  const auto& matmul = *static_cast<const kernel::Matmul*>(entry.data);
  for (const uint16_t poison : {uint16_t{0x7e00}, uint16_t{0x7c00}, uint16_t{0xfc00}}) {
    if (!form.has_half()) break;
    Case sample = random_case(random, quant, 37, whole_blocks(form, 128), 9);
    sample.name = "poison";
    const std::vector<float> before = product(matmul, sample, report);
    const int64_t row = 21;
    uint8_t* block = sample.weights.data() + row * sample.columns / form.block * form.bytes;
    const uint16_t upper = quant == "bf16" || quant == "f32" ? (poison == 0x7e00   ? 0x7fc0
                                                                : poison == 0x7c00 ? 0x7f80
                                                                                   : 0xff80)
                                                             : poison;
    if (quant == "f32")
      std::memcpy(block + 2, &upper, 2);
    else
      set_scale(form, block, upper);
    const std::vector<float> after = product(matmul, sample, report);
    bool same = true, spoiled = true;
    for (size_t i = 0; i < after.size(); ++i) {
      if (static_cast<int64_t>(i) % sample.rows == row)
        spoiled = spoiled && !std::isfinite(after[i]);
      else
        same = same && after[i] == before[i];
    }
    report.require(same, "a poisoned scale reached other rows");
    report.require(spoiled, "a poisoned scale went unseen");
    if (form.halves.size() < 2 || quant == "awq4") continue;  // a zero point is an integer
    Case minimum = random_case(random, quant, 21, whole_blocks(form, 64), 9);
    std::memcpy(minimum.weights.data() + form.halves[1], &poison, 2);
    const std::vector<float> out = product(matmul, minimum, report);
    bool first_alone = true;
    for (size_t i = 0; i < out.size(); ++i) {
      first_alone = first_alone && std::isfinite(out[i]) == (static_cast<int64_t>(i) % minimum.rows != 0);
    }
    report.require(first_alone, "a poisoned minimum went unseen, or reached other rows");
  }
  // A NaN or infinite activation must not come out as a number.
  for (const float poison : {std::numeric_limits<float>::quiet_NaN(), std::numeric_limits<float>::infinity(),
                             -std::numeric_limits<float>::infinity()}) {
    Case sample = random_case(random, quant, 17, whole_blocks(form, 64), 3);
    sample.x[static_cast<size_t>(sample.columns) + 40] = poison;
    const std::vector<float> out = product(matmul, sample, report);
    bool seen = true, alone = true;
    for (int64_t r = 0; r < sample.rows; ++r) {
      seen = seen && !std::isfinite(out[static_cast<size_t>(sample.rows + r)]);
      seen = seen && (!std::isnan(poison) || std::isnan(out[static_cast<size_t>(sample.rows + r)]));
      alone = alone && std::isfinite(out[static_cast<size_t>(r)]) &&
              std::isfinite(out[static_cast<size_t>(2 * sample.rows + r)]);
    }
    report.require(seen, "a poisoned activation went unseen");
    report.require(alone, "a poisoned activation reached other tokens");
  }
}

// Integer sums are exact, so a token comes out the same alone and among others: a draft is verified as it was made.
void together(const kernel::Entry& entry, Random& random, Report& report) {
  const auto& matmul = *static_cast<const kernel::Matmul*>(entry.data);
  const int64_t columns = whole_blocks(layout(entry.quant), 288);
  for (const int64_t tokens : {2, 3, 4, 5, 7, 8, 9, 17, 33}) {
    Case sample = random_case(random, entry.quant, 35, columns, tokens);
    const std::vector<float> all = product(matmul, sample, report);
    bool same = true;
    for (int64_t t = 0; t < tokens; ++t) {
      Case one = sample;
      one.tokens = 1;
      one.x.assign(sample.x.begin() + t * columns, sample.x.begin() + (t + 1) * columns);
      const std::vector<float> alone = product(matmul, one, report);
      for (int64_t r = 0; r < sample.rows; ++r) {
        same = same && alone[static_cast<size_t>(r)] == all[static_cast<size_t>(t * sample.rows + r)];
      }
    }
    report.require(same, sample.name + ": a token alone differs");
  }
}

}  // namespace

void check_matmul(const kernel::Entry& entry, Report& report) {
  Random random(7);
  const Layout& form = layout(entry.quant);
  const bool floats = form.block == 1;
  for (const int64_t tokens : {1, 2, 3, 4, 5, 6, 7, 8, 9, 17, 33, 64}) {
    for (const int64_t rows : {1, 15, 16, 17, 33, 63}) {
      compare(entry, random_case(random, entry.quant, rows, whole_blocks(form, 160), tokens), true, report);
      if (floats) compare(entry, random_case(random, entry.quant, rows, 1 + rows % 7, tokens), false, report);
    }
  }
  for (const int64_t least : {32, 64, 576, 1536, 8192}) {
    const int64_t columns = whole_blocks(form, least);
    compare(entry, random_case(random, entry.quant, 40, columns, 1), true, report);
    compare(entry, random_case(random, entry.quant, 24, columns, 13), true, report);
  }
  // More tokens than one pass over the rows takes.
  compare(entry, random_case(random, entry.quant, 18, 1536, 523), true, report);
  adversarial(entry, random, report);
  poisoned(entry, random, report);
  if (tolerance(entry).activation == Activation::kInt16) together(entry, random, report);
}

}  // namespace halogen::test
