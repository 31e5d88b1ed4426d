// The oracle: weights are dequantised exactly, activations stay float, sums are double in a fixed order.
#include "block_grid.h"
#include "kernel_table.h"

namespace halogen::kernel::reference {
namespace {

double dot(const float* a, const float* b, int64_t count) {
  double lanes[8] = {};
  int64_t i = 0;
  for (; i + 8 <= count; i += 8) {
    for (int lane = 0; lane < 8; ++lane)
      lanes[lane] += static_cast<double>(a[i + lane]) * static_cast<double>(b[i + lane]);
  }
  double sum = ((lanes[0] + lanes[4]) + (lanes[1] + lanes[5])) + ((lanes[2] + lanes[6]) + (lanes[3] + lanes[7]));
  for (; i < count; ++i) sum += static_cast<double>(a[i]) * static_cast<double>(b[i]);
  return sum;
}

template <typename Block>
size_t packed_bytes(int64_t rows, int64_t columns) {
  return static_cast<size_t>(rows * (columns / Block::elements) * Block::bytes);
}

size_t activation_bytes(int64_t columns, int64_t tokens) {
  return static_cast<size_t>(columns * tokens) * sizeof(float);
}

void prepare(const float* x, int64_t x_stride, void* activations, int64_t columns, int64_t, int64_t token_begin,
             int64_t token_end) {
  float* out = static_cast<float*>(activations);
  for (int64_t t = token_begin; t < token_end; ++t) {
    std::memcpy(out + t * columns, x + t * x_stride, static_cast<size_t>(columns) * sizeof(float));
  }
}

size_t scratch_bytes(int64_t columns, int64_t) {
  return static_cast<size_t>(columns) * sizeof(float);
}

template <typename Block>
void run(const MatmulRun& run) {
  const int64_t row_bytes = (run.columns / Block::elements) * Block::bytes;
  const float* x = static_cast<const float*>(run.activations);
  for (int64_t r = run.row_begin; r < run.row_end; ++r) {
    decode_blocks<Block>(static_cast<const uint8_t*>(run.weights) + r * row_bytes, run.scratch, run.columns);
    for (int64_t t = 0; t < run.tokens; ++t) {
      run.out[t * run.out_stride + r] = static_cast<float>(dot(run.scratch, x + t * run.columns, run.columns));
    }
  }
}

template <typename Block>
constexpr Matmul make() {
  return {packed_bytes<Block>, nullptr, activation_bytes, prepare, scratch_bytes, run<Block>, 1, 1};
}

}  // namespace

const Matmul matmul_f32 = make<F32>();
const Matmul matmul_f16 = make<F16>();
const Matmul matmul_bf16 = make<Bf16>();
const Matmul matmul_q8_0 = make<Q8_0>();
const Matmul matmul_q4_0 = make<Q4_0>();
const Matmul matmul_q4_1 = make<Q4_1>();
const Matmul matmul_q5_0 = make<Q5_0>();
const Matmul matmul_q5_1 = make<Q5_1>();
const Matmul matmul_q2_k = make<Q2K>();
const Matmul matmul_q3_k = make<Q3K>();
const Matmul matmul_q4_k = make<Q4K>();
const Matmul matmul_q5_k = make<Q5K>();
const Matmul matmul_q6_k = make<Q6K>();
const Matmul matmul_iq4_nl = make<Iq4Nl>();
const Matmul matmul_iq4_xs = make<Iq4Xs>();
const Matmul matmul_mxfp4 = make<Mxfp4>();
const Matmul matmul_tq1_0 = make<Tq1_0>();
const Matmul matmul_tq2_0 = make<Tq2_0>();
const Matmul matmul_nvfp4 = make<Nvfp4>();
const Matmul matmul_q1_0 = make<Q1_0>();
const Matmul matmul_q2_0 = make<Q2_0>();
const Matmul matmul_iq1_s = make<Iq1S>();
const Matmul matmul_iq1_m = make<Iq1M>();
const Matmul matmul_iq2_xxs = make<Iq2Xxs>();
const Matmul matmul_iq2_xs = make<Iq2Xs>();
const Matmul matmul_iq2_s = make<Iq2S>();
const Matmul matmul_iq3_xxs = make<Iq3Xxs>();
const Matmul matmul_iq3_s = make<Iq3S>();
const Matmul matmul_awq4 = make<Awq4>();

}  // namespace halogen::kernel::reference
