#include <cmath>

#include "kernel_table.h"

namespace halogen::kernel::reference {

void rms_norm(const float* x, const float* weight, float* out, int64_t count, float eps) {
  double squares = 0;
  for (int64_t i = 0; i < count; ++i) squares += static_cast<double>(x[i]) * static_cast<double>(x[i]);
  const double scale = 1.0 / std::sqrt(squares / static_cast<double>(count) + static_cast<double>(eps));
  for (int64_t i = 0; i < count; ++i) {
    const float normal = static_cast<float>(static_cast<double>(x[i]) * scale);
    out[i] = weight != nullptr ? normal * weight[i] : normal;
  }
}

void silu_mul(const float* gate, const float* up, float* out, int64_t count) {
  for (int64_t i = 0; i < count; ++i) out[i] = gate[i] / (1.0f + std::exp(-gate[i])) * up[i];
}

void gelu_mul(const float* gate, const float* up, float* out, int64_t count) {
  constexpr double root = 0.79788456080286535588;  // sqrt(2 / pi)
  for (int64_t i = 0; i < count; ++i) {
    const double g = static_cast<double>(gate[i]);
    const double inner = root * (g + 0.044715 * g * g * g);
    out[i] = static_cast<float>(0.5 * g * (1.0 + std::tanh(inner))) * up[i];
  }
}

void clamped_mul(const float* gate, const float* up, float* out, int64_t count) {
  for (int64_t i = 0; i < count; ++i) {
    const double g = gate[i] > 7.0f ? 7.0 : static_cast<double>(gate[i]);
    const double u = up[i] > 7.0f ? 7.0 : up[i] < -7.0f ? -7.0 : static_cast<double>(up[i]);
    out[i] = static_cast<float>(g / (1.0 + std::exp(-1.702 * g)) * (u + 1.0));
  }
}

void sigmoid_mul(const float* gate, float* x, int64_t count) {
  for (int64_t i = 0; i < count; ++i) x[i] /= 1.0f + std::exp(-gate[i]);
}

void l2_norm(float* x, int64_t count, float eps, float scale) {
  double squares = 0;
  for (int64_t i = 0; i < count; ++i) squares += static_cast<double>(x[i]) * static_cast<double>(x[i]);
  const double factor = static_cast<double>(scale) / std::sqrt(squares + static_cast<double>(eps));
  for (int64_t i = 0; i < count; ++i) x[i] = static_cast<float>(static_cast<double>(x[i]) * factor);
}

void squared_relu_mul(const float* gate, const float* up, float* out, int64_t count) {
  for (int64_t i = 0; i < count; ++i) {
    const float g = gate[i] < 0.0f ? 0.0f : gate[i];
    out[i] = g * g * up[i];
  }
}

void softcap(float* x, float cap, int64_t count) {
  for (int64_t i = 0; i < count; ++i) {
    const double limit = static_cast<double>(cap);
    x[i] = static_cast<float>(limit * std::tanh(static_cast<double>(x[i]) / limit));
  }
}

void add(float* x, const float* y, int64_t count) {
  for (int64_t i = 0; i < count; ++i) x[i] += y[i];
}

void rope(float* x, int64_t heads, int64_t head_dim, int64_t rotated, const float* cosine, const float* sine,
          bool neox) {
  const int64_t half = rotated / 2;
  for (int64_t h = 0; h < heads; ++h, x += head_dim) {
    for (int64_t i = 0; i < half; ++i) {
      float& a = x[neox ? i : 2 * i];
      float& b = x[neox ? i + half : 2 * i + 1];
      const float first = a * cosine[i] - b * sine[i];
      b = a * sine[i] + b * cosine[i];
      a = first;
    }
  }
}

void rotate(const float* x, float* out, const Rotation& rotation) {
  constexpr int64_t group = Rotation::group;
  for (int64_t c = 0; c < rotation.columns; ++c) out[c] = x[c] * rotation.scale[c];
  for (int64_t r = 0; r < rotation.rounds; ++r) {
    for (int64_t begin = 0; begin < rotation.columns; begin += group) {
      float before[group];
      for (int64_t i = 0; i < group; ++i) before[i] = out[begin + i];
      const int64_t at = r * rotation.columns + begin;
      for (int64_t i = 0; i < group; ++i) {
        out[begin + i] = before[i] * rotation.cosine[at + i] + before[rotation.partner[at + i]] * rotation.sine[at + i];
      }
    }
  }
}

}  // namespace halogen::kernel::reference
