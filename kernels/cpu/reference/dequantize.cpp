#include "block.h"
#include "kernel_table.h"

namespace halogen::kernel::reference {

void dequantize_f32(const void* gguf, float* out, int64_t count) {
  decode_blocks<F32>(gguf, out, count);
}
void dequantize_f16(const void* gguf, float* out, int64_t count) {
  decode_blocks<F16>(gguf, out, count);
}
void dequantize_bf16(const void* gguf, float* out, int64_t count) {
  decode_blocks<Bf16>(gguf, out, count);
}
void dequantize_q8_0(const void* gguf, float* out, int64_t count) {
  decode_blocks<Q8_0>(gguf, out, count);
}
void dequantize_q4_0(const void* gguf, float* out, int64_t count) {
  decode_blocks<Q4_0>(gguf, out, count);
}
void dequantize_q4_1(const void* gguf, float* out, int64_t count) {
  decode_blocks<Q4_1>(gguf, out, count);
}

}  // namespace halogen::kernel::reference
