// Rows of Gated DeltaNet against the recurrence in double, in one run and cut into several: however many tokens a
// kernel takes together, it must give what they give one by one.
#include <algorithm>
#include <cmath>

#include "test/kernels/check.h"
#include "test/kernels/sample.h"

namespace halogen::test {
namespace {

constexpr float kGuard = 4321.0f;

size_t at(int64_t index) {
  return static_cast<size_t>(index);
}

// The worst distance, in units of the largest value expected. NaN never passes.
double distance(const std::vector<double>& expected, const std::vector<float>& actual) {
  double largest = 1e-30, worst = 0;
  for (const double value : expected) largest = std::max(largest, std::fabs(value));
  for (size_t i = 0; i < expected.size(); ++i) {
    const double error = std::fabs(static_cast<double>(actual[i]) - expected[i]) / largest;
    if (!(error <= worst)) worst = error;
  }
  return worst;
}

void check_sigmoid_mul(const kernel::Entry& entry, Random& random, Report& report) {
  const auto sigmoid_mul = reinterpret_cast<kernel::SigmoidMul>(entry.function);
  for (const int64_t count : {1, 7, 16, 31, 100}) {
    for (const float size : {1.0f, 20.0f, 1000.0f}) {
      std::vector<float> gate = random_floats(random, count), x = random_floats(random, count);
      for (float& value : gate) value *= size;
      std::vector<double> expected;
      for (size_t i = 0; i < x.size(); ++i)
        expected.push_back(static_cast<double>(x[i]) / (1 + std::exp(-static_cast<double>(gate[i]))));
      x.push_back(kGuard);
      sigmoid_mul(gate.data(), x.data(), count);
      report.require(x.back() == kGuard, "sigmoid_mul wrote beyond its end");
      x.pop_back();
      report.expect(distance(expected, x), 2e-6, "sigmoid_mul " + std::to_string(count));
    }
  }
}

void check_l2_norm(const kernel::Entry& entry, Random& random, Report& report) {
  const auto l2_norm = reinterpret_cast<kernel::L2Norm>(entry.function);
  for (const int64_t count : {1, 7, 16, 31, 64, 128, 129}) {
    for (const float size : {1.0f, 1e-4f, 1e4f, 0.0f}) {
      std::vector<float> x = random_floats(random, count);
      double squares = 0;
      for (float& value : x) {
        value *= size;
        squares += static_cast<double>(value) * static_cast<double>(value);
      }
      std::vector<double> expected;
      for (const float value : x)
        expected.push_back(static_cast<double>(value) * 0.25 / std::sqrt(squares + static_cast<double>(1e-6f)));
      x.push_back(kGuard);
      l2_norm(x.data(), count, 1e-6f, 0.25f);
      report.require(x.back() == kGuard, "l2_norm wrote beyond its end");
      x.pop_back();
      report.expect(distance(expected, x), 2e-6, "l2_norm " + std::to_string(count));
    }
  }
}

void check_convolution(const kernel::Entry& entry, Random& random, Report& report) {
  const auto convolution = reinterpret_cast<kernel::Convolution>(entry.function);
  for (const int64_t taps : {2, 3, 4, 5, 8}) {
    for (const int64_t channels : {1, 16, 37, 128}) {
      for (const int64_t tokens : {1, 2, 3, 9}) {
        const int64_t side = channels + 3, stride = channels + 5, before = taps - 1;
        const std::vector<float> weights = random_floats(random, taps * side);
        std::vector<float> state = random_floats(random, before * side), x = random_floats(random, tokens * stride);
        const std::vector<float> state_before = state, x_before = x;
        const auto row = [&](int64_t t, int64_t c) {
          return static_cast<double>(t < 0 ? state_before[at((before + t) * side + c)] : x_before[at(t * stride + c)]);
        };
        // Channels beyond the last are another member's.
        std::vector<double> expected(x.begin(), x.end()), expected_state(state.begin(), state.end());
        for (int64_t c = 0; c < channels; ++c) {
          for (int64_t t = 0; t < tokens; ++t) {
            double sum = 0;
            for (int64_t k = 0; k < taps; ++k)
              sum += static_cast<double>(weights[at(k * side + c)]) * row(t - before + k, c);
            expected[at(t * stride + c)] = sum / (1 + std::exp(-sum));
          }
          for (int64_t k = 0; k < before; ++k) expected_state[at(k * side + c)] = row(tokens - before + k, c);
        }
        const auto run = [&](int64_t begin, int64_t count, float* to, float* kept) {
          convolution({to + begin * stride, stride, count, channels, kept, weights.data(), side, taps});
        };
        const std::string where = "convolution taps " + std::to_string(taps) + " channels " + std::to_string(channels) +
                                  " tokens " + std::to_string(tokens);
        run(0, tokens, x.data(), state.data());
        report.expect(distance(expected, x), 3e-6, where);
        report.expect(distance(expected_state, state), 1e-12, where + ", state");
        std::vector<float> x_cut = x_before, state_cut = state_before;
        for (int64_t t = 0; t < tokens; ++t) run(t, 1, x_cut.data(), state_cut.data());
        report.require(x_cut == x && state_cut == state, where + ", one by one, differs");
      }
    }
  }
}

struct Shape {
  int64_t key_dim, value_dim, tokens;
  double forgetting;  // of g: how far below zero it goes
};

struct Sample {
  std::vector<float> query, key, value, decay, beta, state;
  int64_t key_stride, value_stride, gate_stride, out_stride;
};

Sample sample(Random& random, const Shape& shape) {
  Sample made;
  made.key_stride = shape.key_dim + 5;
  made.value_stride = shape.value_dim + 9;
  made.gate_stride = 3;
  made.out_stride = shape.value_dim + 2;
  made.query = random_floats(random, shape.tokens * made.key_stride);
  made.key = random_floats(random, shape.tokens * made.key_stride);
  for (int64_t t = 0; t < shape.tokens; ++t) {
    for (std::vector<float>* rows : {&made.query, &made.key}) {
      double squares = 1e-6;
      for (int64_t i = 0; i < shape.key_dim; ++i)
        squares += std::pow(static_cast<double>((*rows)[at(t * made.key_stride + i)]), 2);
      for (int64_t i = 0; i < shape.key_dim; ++i)
        (*rows)[at(t * made.key_stride + i)] /= static_cast<float>(std::sqrt(squares));
    }
  }
  made.value = random_floats(random, shape.tokens * made.value_stride);
  for (int64_t t = 0; t < shape.tokens * made.gate_stride; ++t) {
    made.decay.push_back(static_cast<float>(-shape.forgetting * random.uniform()));
    made.beta.push_back(static_cast<float>(random.uniform()));
  }
  made.state = random_floats(random, shape.key_dim * shape.value_dim);
  return made;
}

// The rule as it stands in native/engine/model/description.h.
void exact(const Sample& from, const Shape& shape, std::vector<double>& state, std::vector<double>& out) {
  for (int64_t t = 0; t < shape.tokens; ++t) {
    const double kept = std::exp(static_cast<double>(from.decay[at(t * from.gate_stride)]));
    const double beta = static_cast<double>(from.beta[at(t * from.gate_stride)]);
    for (int64_t j = 0; j < shape.value_dim; ++j) {
      double found = 0, read = 0;
      for (int64_t i = 0; i < shape.key_dim; ++i) {
        double& s = state[at(i * shape.value_dim + j)];
        s *= kept;
        found += s * static_cast<double>(from.key[at(t * from.key_stride + i)]);
      }
      const double delta = beta * (static_cast<double>(from.value[at(t * from.value_stride + j)]) - found);
      for (int64_t i = 0; i < shape.key_dim; ++i) {
        double& s = state[at(i * shape.value_dim + j)];
        s += delta * static_cast<double>(from.key[at(t * from.key_stride + i)]);
        read += s * static_cast<double>(from.query[at(t * from.key_stride + i)]);
      }
      out[at(t * from.out_stride + j)] = read;
    }
  }
}

void check_delta_net(const kernel::Entry& entry, Random& random, Report& report) {
  const auto& delta_net = *static_cast<const kernel::DeltaNet*>(entry.data);
  const bool is_reference = std::string(entry.variant) == "reference";
  for (const Shape& shape : {Shape{128, 128, 1, 0.5},
                             {128, 128, 64, 0.1},
                             {128, 128, 150, 0.02},
                             {64, 64, 33, 3},
                             {64, 64, 5, 0.5},
                             {64, 64, 6, 0.5},
                             {128, 128, 16, 200},
                             {16, 16, 40, 0.5},
                             {16, 24, 17, 1},
                             {7, 5, 20, 0.3},
                             {1, 1, 9, 1},
                             {48, 96, 31, 0.0},
                             {33, 32, 23, 0.7}}) {
    const Sample made = sample(random, shape);
    std::vector<double> state(made.state.begin(), made.state.end());
    std::vector<double> expected(at(shape.tokens * made.out_stride), static_cast<double>(kGuard));
    exact(made, shape, state, expected);
    // In one run, one by one, and cut where a kernel's own pieces do not end.
    for (const int64_t step : {shape.tokens, int64_t{1}, int64_t{13}}) {
      std::vector<float> out(expected.size(), kGuard);
      Buffer scratch(delta_net.scratch_bytes(shape.key_dim, shape.value_dim));
      Buffer kept(made.state.size() * sizeof(float));
      std::memcpy(kept.data(), made.state.data(), kept.size());
      std::memset(scratch.data(), 0xff, scratch.size());
      for (int64_t t = 0; t < shape.tokens; t += step) {
        delta_net.run({made.query.data() + t * made.key_stride, made.key.data() + t * made.key_stride, made.key_stride,
                       made.value.data() + t * made.value_stride, made.value_stride,
                       made.decay.data() + t * made.gate_stride, made.beta.data() + t * made.gate_stride,
                       made.gate_stride, out.data() + t * made.out_stride, made.out_stride,
                       reinterpret_cast<float*>(kept.data()), shape.key_dim, shape.value_dim,
                       std::min(step, shape.tokens - t), reinterpret_cast<float*>(scratch.data())});
      }
      const std::string where = "delta_net " + std::to_string(shape.key_dim) + " x " + std::to_string(shape.value_dim) +
                                ", " + std::to_string(shape.tokens) + " tokens by " + std::to_string(step);
      bool guarded = scratch.intact() && kept.intact();
      double largest = 1e-30, worst = 0;
      for (size_t i = 0; i < out.size(); ++i) {
        if (expected[i] == static_cast<double>(kGuard)) {
          guarded = guarded && out[i] == kGuard;
        } else {
          largest = std::max(largest, std::fabs(expected[i]));
        }
      }
      for (size_t i = 0; i < out.size(); ++i) {
        const double error = std::fabs(static_cast<double>(out[i]) - expected[i]) / largest;
        if (!(error <= worst)) worst = error;
      }
      report.require(guarded, where + " wrote where it must not");
      report.expect(worst, is_reference ? 1e-6 : 5e-6, where);
      const auto* states = reinterpret_cast<const float*>(kept.data());
      report.expect(distance(state, {states, states + state.size()}), is_reference ? 1e-6 : 5e-6, where + ", state");
    }
  }
}

}  // namespace

void check_delta(const kernel::Entry& entry, Report& report) {
  Random random(17);
  const std::string op = entry.op;
  if (op == "sigmoid_mul") check_sigmoid_mul(entry, random, report);
  if (op == "l2_norm") check_l2_norm(entry, random, report);
  if (op == "convolution") check_convolution(entry, random, report);
  if (op == "delta_net") check_delta_net(entry, random, report);
}

}  // namespace halogen::test
