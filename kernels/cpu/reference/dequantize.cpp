#include "block_grid.h"
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
void dequantize_q5_0(const void* gguf, float* out, int64_t count) {
  decode_blocks<Q5_0>(gguf, out, count);
}
void dequantize_q5_1(const void* gguf, float* out, int64_t count) {
  decode_blocks<Q5_1>(gguf, out, count);
}
void dequantize_q2_k(const void* gguf, float* out, int64_t count) {
  decode_blocks<Q2K>(gguf, out, count);
}
void dequantize_q3_k(const void* gguf, float* out, int64_t count) {
  decode_blocks<Q3K>(gguf, out, count);
}
void dequantize_q4_k(const void* gguf, float* out, int64_t count) {
  decode_blocks<Q4K>(gguf, out, count);
}
void dequantize_q5_k(const void* gguf, float* out, int64_t count) {
  decode_blocks<Q5K>(gguf, out, count);
}
void dequantize_q6_k(const void* gguf, float* out, int64_t count) {
  decode_blocks<Q6K>(gguf, out, count);
}
void dequantize_iq4_nl(const void* gguf, float* out, int64_t count) {
  decode_blocks<Iq4Nl>(gguf, out, count);
}
void dequantize_iq4_xs(const void* gguf, float* out, int64_t count) {
  decode_blocks<Iq4Xs>(gguf, out, count);
}
void dequantize_mxfp4(const void* gguf, float* out, int64_t count) {
  decode_blocks<Mxfp4>(gguf, out, count);
}
void dequantize_tq1_0(const void* gguf, float* out, int64_t count) {
  decode_blocks<Tq1_0>(gguf, out, count);
}
void dequantize_tq2_0(const void* gguf, float* out, int64_t count) {
  decode_blocks<Tq2_0>(gguf, out, count);
}
void dequantize_nvfp4(const void* gguf, float* out, int64_t count) {
  decode_blocks<Nvfp4>(gguf, out, count);
}
void dequantize_q1_0(const void* gguf, float* out, int64_t count) {
  decode_blocks<Q1_0>(gguf, out, count);
}
void dequantize_q2_0(const void* gguf, float* out, int64_t count) {
  decode_blocks<Q2_0>(gguf, out, count);
}
void dequantize_iq1_s(const void* gguf, float* out, int64_t count) {
  decode_blocks<Iq1S>(gguf, out, count);
}
void dequantize_iq1_m(const void* gguf, float* out, int64_t count) {
  decode_blocks<Iq1M>(gguf, out, count);
}
void dequantize_iq2_xxs(const void* gguf, float* out, int64_t count) {
  decode_blocks<Iq2Xxs>(gguf, out, count);
}
void dequantize_iq2_xs(const void* gguf, float* out, int64_t count) {
  decode_blocks<Iq2Xs>(gguf, out, count);
}
void dequantize_iq2_s(const void* gguf, float* out, int64_t count) {
  decode_blocks<Iq2S>(gguf, out, count);
}
void dequantize_iq3_xxs(const void* gguf, float* out, int64_t count) {
  decode_blocks<Iq3Xxs>(gguf, out, count);
}
void dequantize_iq3_s(const void* gguf, float* out, int64_t count) {
  decode_blocks<Iq3S>(gguf, out, count);
}
void dequantize_awq4(const void* gguf, float* out, int64_t count) {
  decode_blocks<Awq4>(gguf, out, count);
}

}  // namespace halogen::kernel::reference
