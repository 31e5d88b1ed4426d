// What some models add at the end of each layer: a view of the token of that layer's own.
#include "native/backend/cpu/pass.h"

namespace halogen::backend::cpu {

void Pass::token_inputs() {
  const model::TokenInputs& inputs = program_.description.token_inputs;
  const Matrix& projection = program_.input_projection;
  const Embedding& embedding = program_.input_embedding;
  float* out = scratch(program_.token_inputs);
  prepare(scratch(program_.x), tokens_, nullptr, {&projection});
  share(projection.rows, projection.kernel->row_granule, [&](Range rows) { multiply(projection, tokens_, out, rows); });
  member_.barrier();
  float* table = scratch(desk_.token_input);
  const float scale = embedding.scale * inputs.embedding_scale;
  const Range own = own_part(tokens_);
  for (int64_t t = own.begin; t < own.end; ++t) {
    float* row = out + t * projection.rows;
    for (int64_t at = 0; at < projection.rows; at += inputs.width) normalise(row + at, program_.input_norm);
    embedding.dequantize(row_of(embedding, t), table, embedding.columns);
    for (int64_t i = 0; i < projection.rows; ++i) row[i] = (row[i] + table[i] * scale) * inputs.scale;
  }
  member_.barrier();
}

void Pass::token_input(const Block& block, size_t layer) {
  const Matrix& matrix = block.input_gate;
  const int64_t stride = program_.input_projection.rows;
  const float* inputs = scratch(program_.token_inputs) + static_cast<int64_t>(layer) * matrix.rows;
  float* gate = scratch(program_.gate);
  prepare(scratch(program_.x), tokens_, nullptr, {&matrix});
  share(matrix.rows, matrix.kernel->row_granule, [&](Range rows) {
    multiply(matrix, tokens_, gate, rows);
    for (int64_t t = 0; t < tokens_; ++t) {
      float* part = gate + t * matrix.rows + rows.begin;
      program_.gelu_mul(part, inputs + t * stride + rows.begin, part, rows.end - rows.begin);
    }
  });
  member_.barrier();
  add_product(block.input_projection, gate, {}, {block.input_norm, nullptr, block.output_scale});
}

}  // namespace halogen::backend::cpu
