#include "kernels/cpu/element.h"

#include "kernel_table.h"
#include "kernels/cpu/vector/variant.h"

namespace halogen::kernel::HALOGEN_VARIANT {

void rms_norm(const float* x, const float* weight, float* out, int64_t count, float eps) {
  Element<Vector>::rms_norm(x, weight, out, count, eps);
}

void silu_mul(const float* gate, const float* up, float* out, int64_t count) {
  Element<Vector>::silu_mul(gate, up, out, count);
}

void gelu_mul(const float* gate, const float* up, float* out, int64_t count) {
  Element<Vector>::gelu_mul(gate, up, out, count);
}

void clamped_mul(const float* gate, const float* up, float* out, int64_t count) {
  Element<Vector>::clamped_mul(gate, up, out, count);
}

void sigmoid_mul(const float* gate, float* x, int64_t count) {
  Element<Vector>::sigmoid_mul(gate, x, count);
}

void l2_norm(float* x, int64_t count, float eps, float scale) {
  Element<Vector>::l2_norm(x, count, eps, scale);
}

void squared_relu_mul(const float* gate, const float* up, float* out, int64_t count) {
  Element<Vector>::squared_relu_mul(gate, up, out, count);
}

void softcap(float* x, float cap, int64_t count) {
  Element<Vector>::softcap(x, cap, count);
}

void add(float* x, const float* y, int64_t count) {
  Element<Vector>::add(x, y, count);
}

void rope(float* x, int64_t heads, int64_t head_dim, int64_t rotated, const float* cosine, const float* sine,
          bool neox) {
  Element<Vector>::rope(x, heads, head_dim, rotated, cosine, sine, neox);
}

}  // namespace halogen::kernel::HALOGEN_VARIANT
