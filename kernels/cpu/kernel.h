// The face of every CPU kernel: raw pointers and sizes, no allocation, no threads, no exceptions.
// The backend splits rows or tokens over its threads and calls these; a kernel is found through the generated registry.
#pragma once
#include <cstddef>
#include <cstdint>

namespace halogen::kernel {

// Weight matrix product: out[t][r] = sum_c W[r][c] * x[t][c]. `columns` is the reduction dimension (GGUF ne0), rows is
// ne1.
struct MatmulRun {
  const void* weights;      // packed by the same kernel's `pack`
  const void* activations;  // prepared by the same kernel's `prepare`
  float* out;               // out[t * out_stride + r]
  int64_t out_stride;       // floats
  int64_t rows;             // of the whole matrix
  int64_t columns;
  int64_t row_begin;  // multiples of row_granule (row_end may be `rows`)
  int64_t row_end;
  int64_t tokens;  // prepared activation rows, >= 1
  float* scratch;  // scratch_bytes() of the calling thread, 64-byte aligned
};

// One manifest row of op "matmul". All pointers 64-byte aligned unless they point into a GGUF file (pack's source:
// 1-byte).
struct Matmul {
  // Packed size, and packing of rows [row_begin, row_end) from GGUF block layout. A kernel that reads GGUF's own
  // layout in place has pack == nullptr and packed_bytes == the GGUF size; it must then accept 2-byte alignment.
  size_t (*packed_bytes)(int64_t rows, int64_t columns);
  void (*pack)(const void* gguf, void* packed, int64_t rows, int64_t columns, int64_t row_begin, int64_t row_end);
  // Activation rows in the kernel's own form (quantised, with sums, interleaved for prefill, ...).
  size_t (*activation_bytes)(int64_t columns, int64_t tokens);
  // Prepares tokens [token_begin, token_end) of `tokens`; ranges are multiples of token_granule (token_end may be
  // `tokens`).
  void (*prepare)(const float* x, int64_t x_stride, void* activations, int64_t columns, int64_t tokens,
                  int64_t token_begin, int64_t token_end);
  size_t (*scratch_bytes)(int64_t columns, int64_t tokens);
  void (*run)(const MatmulRun& run);
  int64_t row_granule;
  int64_t token_granule;
};

// One manifest row of op "dequantize": GGUF blocks of one row range to float. Used by embedding look-up and as the
// oracle.
using Dequantize = void (*)(const void* gguf, float* out, int64_t count);

// out[i] = x[i] / sqrt(mean(x^2) + eps) * weight[i]; weight may be null.
using RmsNorm = void (*)(const float* x, const float* weight, float* out, int64_t count, float eps);

// gate[i] = silu(gate[i]) * up[i]
using SiluMul = void (*)(const float* gate, const float* up, float* out, int64_t count);

// gate[i] = gelu(gate[i]) * up[i], GELU by its tanh approximation
using GeluMul = void (*)(const float* gate, const float* up, float* out, int64_t count);

// g = min(gate[i], 7), out[i] = g * sigmoid(1.702 g) * (min(max(up[i], -7), 7) + 1). Source: gpt-oss's reference code.
using ClampedMul = void (*)(const float* gate, const float* up, float* out, int64_t count);

// x[i] *= 1 / (1 + e^-gate[i])
using SigmoidMul = void (*)(const float* gate, float* x, int64_t count);

// x[i] *= scale / sqrt(sum(x^2) + eps)
using L2Norm = void (*)(float* x, int64_t count, float eps, float scale);

// out[i] = max(gate[i], 0)^2 * up[i]
using SquaredReluMul = void (*)(const float* gate, const float* up, float* out, int64_t count);

// x[i] = cap * tanh(x[i] / cap)
using Softcap = void (*)(float* x, float cap, int64_t count);

// x[i] += y[i]
using Add = void (*)(float* x, const float* y, int64_t count);

// Rotates `heads` vectors of head_dim in place. cosine/sine hold rotated/2 values for this position.
// neox: pairs (i, i + rotated/2); otherwise adjacent pairs (2i, 2i + 1). Dimensions >= rotated pass through.
using Rope = void (*)(float* x, int64_t heads, int64_t head_dim, int64_t rotated, const float* cosine,
                      const float* sine, bool neox);

// Causal convolution of each channel with its own weights, then SiLU, in place:
// x[t][c] = silu(sum_k weights[k][c] * x[t - taps + 1 + k][c]), where rows before 0 are those of `state`, oldest first.
struct ConvolutionRun {
  float* x;        // x[t * stride + c]
  int64_t stride;  // floats
  int64_t tokens;  // >= 1
  int64_t channels;
  float* state;          // [taps - 1][side_stride], becomes the last rows of x before they changed
  const float* weights;  // [taps][side_stride]
  int64_t side_stride;
  int64_t taps;  // 2 .. 8
};
using Convolution = void (*)(const ConvolutionRun& run);

// The gated delta rule of one value head (native/engine/model/description.h). S is [key_dim][value_dim]; for each token
// S *= e^g; d = beta (v - S'k); S += k d'; out = S'q.
struct DeltaRun {
  const float* query;  // query[t * key_stride + i], normalised and scaled
  const float* key;
  int64_t key_stride;  // floats, of query and key
  const float* value;  // value[t * value_stride + j]
  int64_t value_stride;
  const float* decay;  // decay[t * gate_stride]: g <= 0
  const float* beta;   // beta[t * gate_stride]
  int64_t gate_stride;
  float* out;  // out[t * out_stride + j]
  int64_t out_stride;
  float* state;  // S, 64-byte aligned
  int64_t key_dim;
  int64_t value_dim;
  int64_t tokens;  // >= 1
  float* scratch;  // scratch_bytes, 64-byte aligned
};
struct DeltaNet {
  size_t (*scratch_bytes)(int64_t key_dim, int64_t value_dim);
  void (*run)(const DeltaRun& run);
};

// What is done to a matrix's input before the product: each column times its scale, then rounds of Givens rotations of
// disjoint pairs of columns within groups of 128. In a round, column c becomes x[c] cosine[c] + x[partner] sine[c]; the
// sine of a pair's second column is negative.
struct Rotation {
  static constexpr int64_t group = 128;
  const float* scale;      // [columns]
  const float* cosine;     // [rounds][columns]
  const float* sine;       // [rounds][columns]
  const uint8_t* partner;  // [rounds][columns], within the group
  int64_t columns;
  int64_t rounds;
};
using Rotate = void (*)(const float* x, float* out, const Rotation& rotation);

// Attention of query rows of one KV head's group over paged keys and values.
// A page holds `page_tokens` positions of one layer and one KV head: keys [page_tokens][head_dim], values likewise, in
// the kernel's KV type. Q8_0 has a scale per row (position): after the rows, at the next multiple of 64 bytes, float
// scales [page_tokens]; value = scale * byte. Its rows are kept rotated, so that no outlier makes the scale coarse for
// all: each run of n elements, n being the largest power of two up to 256 that divides head_dim, went through the
// Walsh-Hadamard transform (natural order) over sqrt(n), which is its own inverse and keeps dot products.
struct AttentionRun {
  const float* query;    // query[t * query_stride + h * head_dim], h < group (query heads that share this KV head)
  int64_t query_stride;  // floats
  float* out;            // same layout, out_stride
  int64_t out_stride;
  const void* const* key_pages;
  const void* const* value_pages;
  int64_t page_tokens;
  int64_t head_dim;
  int64_t group;
  int64_t tokens;    // query rows t = 0 .. tokens-1 at positions position + t
  int64_t position;  // position of query row 0; it sees keys [max(0, p - window + 1), p]
  int64_t window;    // 0 = all
  float scale;
  float* scratch;  // scratch_bytes
  // Per query head of the group: the natural logit of a key without a value, which only takes weight. Null: none.
  const float* sinks = nullptr;
  // Of the keys a row sees, only [key_begin, key_end): a part of the work, when `part` is given. Then out gets the sum
  // of weighted values as it is, and part[2 * row], part[2 * row + 1] the largest score in powers of two (-3e38: no key
  // seen) and the sum of weights 2^(score - largest), for row = t * group + h. Sinks belong to one part alone.
  int64_t key_begin = 0;
  int64_t key_end = INT64_MAX;
  float* part = nullptr;
};
struct Attention {
  // Of the keys (or the values) of one page.
  size_t (*page_bytes)(int64_t head_dim, int64_t page_tokens);
  size_t (*scratch_bytes)(int64_t head_dim, int64_t group, int64_t tokens, int64_t page_tokens);
  void (*run)(const AttentionRun& run);
};

// Writes head_dim floats to row `slot` of the keys (or the values) of a page, to nearest even. Q8_0: scale = peak /
// 127, bytes -127 .. 127.
using KvStore = void (*)(const float* x, void* page, int64_t slot, int64_t page_tokens, int64_t head_dim);

}  // namespace halogen::kernel
