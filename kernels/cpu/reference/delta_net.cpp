// The recurrence token by token, in double between the stored floats.
#include <cmath>

#include "kernel_table.h"

namespace halogen::kernel::reference {
namespace {

size_t scratch_bytes(int64_t, int64_t value_dim) {
  return static_cast<size_t>(value_dim) * sizeof(double);
}

void run(const DeltaRun& run) {
  double* delta = reinterpret_cast<double*>(run.scratch);
  for (int64_t t = 0; t < run.tokens; ++t) {
    const float* key = run.key + t * run.key_stride;
    const float* query = run.query + t * run.key_stride;
    const float* value = run.value + t * run.value_stride;
    float* out = run.out + t * run.out_stride;
    const double kept = std::exp(static_cast<double>(run.decay[t * run.gate_stride]));
    const double beta = static_cast<double>(run.beta[t * run.gate_stride]);
    for (int64_t j = 0; j < run.value_dim; ++j) {
      double found = 0;
      for (int64_t i = 0; i < run.key_dim; ++i)
        found += static_cast<double>(run.state[i * run.value_dim + j]) * static_cast<double>(key[i]);
      delta[j] = beta * (static_cast<double>(value[j]) - kept * found);
    }
    for (int64_t i = 0; i < run.key_dim; ++i) {
      for (int64_t j = 0; j < run.value_dim; ++j) {
        float& s = run.state[i * run.value_dim + j];
        s = static_cast<float>(kept * static_cast<double>(s) + static_cast<double>(key[i]) * delta[j]);
      }
    }
    for (int64_t j = 0; j < run.value_dim; ++j) {
      double sum = 0;
      for (int64_t i = 0; i < run.key_dim; ++i)
        sum += static_cast<double>(run.state[i * run.value_dim + j]) * static_cast<double>(query[i]);
      out[j] = static_cast<float>(sum);
    }
  }
}

}  // namespace

// From the last token back, so that each still finds the rows before it as they were.
void convolution(const ConvolutionRun& run) {
  const int64_t before = run.taps - 1;
  for (int64_t c = 0; c < run.channels; ++c) {
    const auto row = [&](int64_t t) {
      return t < 0 ? run.state[(before + t) * run.side_stride + c] : run.x[t * run.stride + c];
    };
    float last[7];
    for (int64_t i = 0; i < before; ++i) last[i] = row(run.tokens - before + i);
    for (int64_t t = run.tokens - 1; t >= 0; --t) {
      double sum = 0;
      for (int64_t k = 0; k < run.taps; ++k)
        sum += static_cast<double>(run.weights[k * run.side_stride + c]) * static_cast<double>(row(t - before + k));
      run.x[t * run.stride + c] = static_cast<float>(sum / (1 + std::exp(-sum)));
    }
    for (int64_t i = 0; i < before; ++i) run.state[i * run.side_stride + c] = last[i];
  }
}

const DeltaNet delta_net{scratch_bytes, run};

}  // namespace halogen::kernel::reference
