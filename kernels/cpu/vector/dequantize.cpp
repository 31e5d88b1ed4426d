#include "kernels/cpu/dequantize.h"

#include "kernel_table.h"
#include "kernels/cpu/vector/variant.h"

namespace halogen::kernel::HALOGEN_VARIANT {

void dequantize_f32(const void* gguf, float* out, int64_t count) {
  Dequantizer<Vector>::f32(gguf, out, count);
}

void dequantize_f16(const void* gguf, float* out, int64_t count) {
  Dequantizer<Vector>::f16(gguf, out, count);
}

void dequantize_bf16(const void* gguf, float* out, int64_t count) {
  Dequantizer<Vector>::bf16(gguf, out, count);
}

void dequantize_q8_0(const void* gguf, float* out, int64_t count) {
  Dequantizer<Vector>::q8_0(gguf, out, count);
}

void dequantize_q4_0(const void* gguf, float* out, int64_t count) {
  Dequantizer<Vector>::q4_0(gguf, out, count);
}

void dequantize_q4_1(const void* gguf, float* out, int64_t count) {
  Dequantizer<Vector>::q4_1(gguf, out, count);
}

}  // namespace halogen::kernel::HALOGEN_VARIANT
