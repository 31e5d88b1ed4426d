// attention rows against a plain softmax in double over the keys and values as the pages hold them.
#include <cmath>
#include <limits>

#include "test/kernels/check.h"
#include "test/kernels/sample.h"

namespace halogen::test {
namespace {

struct Case {
  int64_t head_dim, group, tokens, position, window, page_tokens;
  float sharpness;                // of the scores: large ones make the softmax choose one key
  std::vector<float> sinks = {};  // repeated over the group; none: no sinks
  int64_t parts = 1;              // of the keys, put together as the backend does
  bool outliers = false;          // an element of every key is near 30, every fifth value row is 100 times as large
};

// In units of the largest value: the sums are float, the weights are within 1e-6 of exact. Vector kernels multiply many
// rows of the types that round anyway in 16-bit integers: that adds 1e-5 |q||k| to a score, as F16 itself does.
struct Tolerance {
  const char* variant;
  double limit, coarse_limit;
};
const Tolerance kTolerances[] = {{"reference", 1e-6, 1e-6}, {"avx2", 2e-5, 6e-4}, {"avx512", 2e-5, 6e-4}};

// The last head_dim values through the transform that Q8_0 rows are kept in, from its definition: entry (i, j) of the
// matrix has the sign of the parity of i & j.
void rotate_back(std::vector<double>& values, int64_t head_dim) {
  const int64_t n = std::min<int64_t>(head_dim & -head_dim, 256);
  const std::vector<double> kept(values.end() - head_dim, values.end());
  const auto begin = static_cast<int64_t>(values.size()) - head_dim;
  for (int64_t i = 0; i < head_dim; ++i) {
    double sum = 0;
    for (int64_t j = 0; j < n; ++j) {
      const double value = kept[static_cast<size_t>(i / n * n + j)];
      sum += __builtin_popcountll(static_cast<uint64_t>(i % n & j)) % 2 == 0 ? value : -value;
    }
    values[static_cast<size_t>(begin + i)] = sum / std::sqrt(static_cast<double>(n));
  }
}

// A random row of a page as kernel.h lays it out, and the values it stands for.
void write_row(const std::string& type, uint8_t* page, int64_t slot, int64_t page_tokens, int64_t head_dim,
               Random& random, float shift, float size, std::vector<double>& values) {
  const int64_t element = type == "f32" ? 4 : type == "q8_0" ? 1 : 2;
  const float scale = 0.02f * static_cast<float>(0.2 + random.uniform()) * size;
  if (type == "q8_0") std::memcpy(page + (page_tokens * head_dim + 63) / 64 * 64 + slot * 4, &scale, sizeof scale);
  for (int64_t d = 0; d < head_dim; ++d) {
    const float value = random.normal() * size + (d == 3 ? shift : 0.0f);
    uint8_t* at = page + (slot * head_dim + d) * element;
    if (type == "f32") {
      std::memcpy(at, &value, sizeof value);
      values.push_back(static_cast<double>(value));
    } else if (type == "q8_0") {
      const auto byte = static_cast<int8_t>(static_cast<int64_t>(random.next() % 255) - 127);
      std::memcpy(at, &byte, 1);
      values.push_back(static_cast<double>(scale) * byte);
    } else if (type == "f16") {
      const uint16_t bits = half_bits(value);
      std::memcpy(at, &bits, sizeof bits);
      values.push_back(static_cast<double>(half_value(bits)));
    } else {
      uint32_t bits;
      std::memcpy(&bits, &value, sizeof bits);
      bits &= 0xffff0000u;
      std::memcpy(at, reinterpret_cast<const uint8_t*>(&bits) + 2, 2);
      float kept;
      std::memcpy(&kept, &bits, sizeof kept);
      values.push_back(static_cast<double>(kept));
    }
  }
  if (type == "q8_0") rotate_back(values, head_dim);
}

// The keys in parts of unequal length, the first without keys, put together in double.
void run_in_parts(const kernel::Attention& attention, kernel::AttentionRun run, int64_t parts, int64_t length) {
  const int64_t rows = run.tokens * run.group;
  float* const out = run.out;
  std::vector<std::vector<float>> sums, ends;
  for (int64_t i = 0; i < parts; ++i) {
    sums.emplace_back(static_cast<size_t>(run.tokens * run.out_stride), 99.0f);
    ends.emplace_back(static_cast<size_t>(2 * rows), std::nanf(""));
    run.out = sums.back().data();
    run.part = ends.back().data();
    run.key_begin = i == 0 ? 0 : length * (i - 1) * (i - 1) / ((parts - 1) * (parts - 1));
    run.key_end = i + 1 == parts ? INT64_MAX : length * i * i / ((parts - 1) * (parts - 1));
    attention.run(run);
    run.sinks = nullptr;
  }
  for (int64_t row = 0; row < rows; ++row) {
    double largest = -std::numeric_limits<double>::infinity(), total = 0;
    for (const auto& end : ends) largest = std::max(largest, static_cast<double>(end[static_cast<size_t>(2 * row)]));
    std::vector<double> weights;
    for (const auto& end : ends) {
      weights.push_back(std::exp2(static_cast<double>(end[static_cast<size_t>(2 * row)]) - largest));
      total += weights.back() * static_cast<double>(end[static_cast<size_t>(2 * row + 1)]);
    }
    for (int64_t d = 0; d < run.head_dim; ++d) {
      const int64_t at = row / run.group * run.out_stride + row % run.group * run.head_dim + d;
      double sum = 0;
      for (size_t i = 0; i < sums.size(); ++i)
        sum += weights[i] * static_cast<double>(sums[i][static_cast<size_t>(at)]);
      out[at] = static_cast<float>(sum / total);
    }
  }
}

void check_case(const kernel::Entry& entry, const Case& shape, Random& random, double limit, Report& report) {
  const auto& attention = *static_cast<const kernel::Attention*>(entry.data);
  const int64_t length = shape.position + shape.tokens;
  const int64_t pages = (length + shape.page_tokens - 1) / shape.page_tokens;
  const size_t page_bytes = attention.page_bytes(shape.head_dim, shape.page_tokens);
  std::vector<double> stored[2];
  std::vector<Buffer> pool;
  std::vector<const void*> tables[2];
  for (int kind = 0; kind < 2; ++kind) {
    for (int64_t page = 0; page < pages; ++page) {
      pool.emplace_back(page_bytes);
      uint8_t* bytes = pool.back().data();
      // Positions that were never written hold NaN: nothing may read them into a result.
      std::memset(bytes, 0xff, page_bytes);
      for (int64_t slot = 0; slot < shape.page_tokens && page * shape.page_tokens + slot < length; ++slot) {
        const bool large = shape.outliers && kind == 1 && slot % 5 == 0;
        write_row(entry.quant, bytes, slot, shape.page_tokens, shape.head_dim, random,
                  shape.outliers && kind == 0 ? 30.0f : 0.0f, large ? 100.0f : 1.0f, stored[kind]);
      }
      tables[kind].push_back(bytes);
    }
  }
  const int64_t query_stride = shape.group * shape.head_dim + 7, out_stride = shape.group * shape.head_dim + 3;
  const std::vector<float> query = random_floats(random, shape.tokens * query_stride);
  std::vector<float> out(static_cast<size_t>(shape.tokens * out_stride), 99.0f);
  Buffer scratch(attention.scratch_bytes(shape.head_dim, shape.group, shape.tokens, shape.page_tokens));
  std::memset(scratch.data(), 0xff, scratch.size());
  const float scale = shape.sharpness / std::sqrt(static_cast<float>(shape.head_dim));
  std::vector<float> sinks;
  for (int64_t h = 0; !shape.sinks.empty() && h < shape.group; ++h)
    sinks.push_back(shape.sinks[static_cast<size_t>(h) % shape.sinks.size()]);
  kernel::AttentionRun run{query.data(),
                           query_stride,
                           out.data(),
                           out_stride,
                           tables[0].data(),
                           tables[1].data(),
                           shape.page_tokens,
                           shape.head_dim,
                           shape.group,
                           shape.tokens,
                           shape.position,
                           shape.window,
                           scale,
                           reinterpret_cast<float*>(scratch.data()),
                           sinks.empty() ? nullptr : sinks.data()};
  if (shape.parts == 1) {
    attention.run(run);
  } else {
    run_in_parts(attention, run, shape.parts, length);
  }
  const std::string where = "dim " + std::to_string(shape.head_dim) + " group " + std::to_string(shape.group) +
                            " tokens " + std::to_string(shape.tokens) + " position " + std::to_string(shape.position) +
                            " window " + std::to_string(shape.window) + " page " + std::to_string(shape.page_tokens) +
                            (sinks.empty() ? "" : " sinks from " + std::to_string(sinks[0])) +
                            (shape.outliers ? " with outliers" : "") +
                            (shape.parts > 1 ? " in " + std::to_string(shape.parts) + " parts" : "");
  report.require(scratch.intact(), where + ": wrote beyond its scratch");
  double worst = 0;
  bool clean = true;
  for (int64_t t = 0; t < shape.tokens; ++t) {
    for (int64_t i = shape.group * shape.head_dim; i < out_stride; ++i)
      clean = clean && out[static_cast<size_t>(t * out_stride + i)] == 99.0f;
    const int64_t last = shape.position + t;
    const int64_t first = shape.window > 0 && last - shape.window + 1 > 0 ? last - shape.window + 1 : 0;
    for (int64_t h = 0; h < shape.group; ++h) {
      const float* q = query.data() + t * query_stride + h * shape.head_dim;
      std::vector<double> score;
      double largest = -std::numeric_limits<double>::infinity();
      for (int64_t key = first; key <= last; ++key) {
        double sum = 0;
        for (int64_t d = 0; d < shape.head_dim; ++d)
          sum += static_cast<double>(q[d]) * stored[0][static_cast<size_t>(key * shape.head_dim + d)];
        score.push_back(sum * static_cast<double>(scale));
        largest = std::max(largest, score.back());
      }
      double total = 0;
      if (!sinks.empty()) {
        const double sink = static_cast<double>(sinks[static_cast<size_t>(h)]);
        largest = std::max(largest, sink);
        total = std::exp(sink - largest);
      }
      for (double& value : score) total += value = std::exp(value - largest);
      for (int64_t d = 0; d < shape.head_dim; ++d) {
        double expected = 0;
        for (int64_t key = first; key <= last; ++key) {
          expected +=
              score[static_cast<size_t>(key - first)] * stored[1][static_cast<size_t>(key * shape.head_dim + d)];
        }
        const double error = std::fabs(
            static_cast<double>(out[static_cast<size_t>(t * out_stride + h * shape.head_dim + d)]) - expected / total);
        if (!(error <= worst)) worst = error;
      }
    }
  }
  report.require(clean, where + ": wrote beyond its heads");
  // Scores of size s carry an error of s: so does the weight of a key. |q||k| grows with the root of the head.
  double size = std::sqrt(std::max(1.0, static_cast<double>(shape.head_dim) / 64));
  if (shape.outliers) size *= 4 * 100;  // of the keys, and of the values
  report.expect(worst, limit * size * std::max(1.0, static_cast<double>(shape.sharpness)), where);
}

}  // namespace

void check_attention(const kernel::Entry& entry, Report& report) {
  double limit = 0;
  for (const Tolerance& row : kTolerances) {
    if (row.variant != std::string(entry.variant)) continue;
    limit = entry.quant == std::string("f32") ? row.limit : row.coarse_limit;
  }
  report.require(limit > 0, "no tolerance for this variant");
  Random random(17);
  for (const int64_t head_dim : {64, 128, 80, 96, 20, 33, 7, 256, 512}) {
    for (const int64_t group : {1, 3, 4, 5, 8}) {
      for (const int64_t tokens : {1, 2, 7, 33}) {
        check_case(entry, {head_dim, group, tokens, 45, 0, 16, 1}, random, limit, report);
      }
    }
  }
  for (const int64_t page_tokens : {16, 24, 64, 100}) {
    for (const int64_t position : {0, 1, 31, 100, 513}) {
      for (const int64_t window : {0, 1, 17, 64}) {
        check_case(entry, {64, 3, 1, position, window, page_tokens, 1}, random, limit, report);
        check_case(entry, {64, 3, 70, position, window, page_tokens, 1}, random, limit, report);
      }
    }
  }
  for (const int64_t tokens : {1, 40}) {
    check_case(entry, {64, 3, tokens, 2000, 0, 64, 30}, random, limit, report);
    check_case(entry, {64, 3, tokens, 2000, 0, 64, 0}, random, limit, report);
  }
  for (const int64_t head_dim : {64, 80, 256}) {
    for (const int64_t tokens : {1, 3, 40}) {
      check_case(entry, {head_dim, 3, tokens, 300, 0, 64, 1, {}, 1, true}, random, limit, report);
    }
  }
  for (const int64_t head_dim : {64, 20}) {
    for (const int64_t tokens : {1, 3, 40}) {
      for (const int64_t window : {0, 100}) {
        check_case(entry, {head_dim, 3, tokens, 700, window, 64, 1, {}, 4}, random, limit, report);
        check_case(entry, {head_dim, 5, tokens, 90, window, 16, 1, {1, -3}, 3}, random, limit, report);
      }
    }
  }
  // A sink below, among and far above the scores, and one that is switched off.
  const float off = -std::numeric_limits<float>::infinity();
  for (const int64_t tokens : {1, 2, 40}) {
    for (const int64_t position : {0, 3, 300}) {
      for (const int64_t window : {0, 32}) {
        check_case(entry, {64, 3, tokens, position, window, 64, 1, {-2, 0.5f, 3}}, random, limit, report);
        check_case(entry, {80, 8, tokens, position, window, 16, 1, {40, off, 1.5f}}, random, limit, report);
      }
    }
  }
}

}  // namespace halogen::test
