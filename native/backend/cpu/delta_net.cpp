// The Gated DeltaNet stage of a pass: projections; then, key head by key head, convolution, the delta rule and the
// gated norm.
#include <cmath>
#include <cstring>

#include "native/backend/cpu/pass.h"

namespace halogen::backend::cpu {
namespace {

// The r-th of the value heads that read a key head.
int64_t value_head(const DeltaNet& mixer, int64_t key_head, int64_t r) {
  return mixer.tiled ? r * mixer.key_heads + key_head : key_head * (mixer.value_heads / mixer.key_heads) + r;
}

float softplus(float x) {
  return x > 20 ? x : std::log1p(std::exp(x));
}

}  // namespace

void Pass::delta_net(const Block& block) {
  const DeltaNet& mixer = block.delta_net;
  const int64_t channels = mixer.channels(), keys = mixer.key_heads * mixer.key_dim;
  prepare(scratch(program_.x), tokens_, &block.attention_norm,
          {&mixer.query, &mixer.key, &mixer.value, &mixer.gate, &mixer.beta, &mixer.step});
  float* mixed = scratch(program_.mixed);
  const Projection projections[] = {{&mixer.query, mixed, channels},
                                    {&mixer.key, mixed + keys, channels},
                                    {&mixer.value, mixed + 2 * keys, channels},
                                    {&mixer.gate, scratch(program_.output_gate), mixer.inner()},
                                    {&mixer.beta, scratch(program_.beta), mixer.value_heads},
                                    {&mixer.step, scratch(program_.decay), mixer.value_heads}};
  multiply_all(projections);
  member_.barrier();
  if (alone()) {
    const Range own = own_part(mixer.key_heads);
    for (int64_t head = own.begin; head < own.end; ++head) delta_heads(mixer, head);
  } else {
    for (int64_t head = member_.take(); head < mixer.key_heads; head = member_.take()) delta_heads(mixer, head);
  }
  member_.barrier();
  add_product(mixer.output, scratch(program_.attended), {}, {block.attention_output_norm});
}

void Pass::delta_heads(const DeltaNet& mixer, int64_t key_head) {
  const int64_t heads = mixer.value_heads, ratio = heads / mixer.key_heads;
  for (int64_t t = 0; t < tokens_; ++t) {
    for (int64_t r = 0; r < ratio; ++r) {
      const int64_t h = value_head(mixer, key_head, r);
      float& beta = scratch(program_.beta)[t * heads + h];
      float& decay = scratch(program_.decay)[t * heads + h];
      beta = 1.0f / (1.0f + std::exp(-beta));
      decay = weights(mixer.decay)[h] * softplus(decay + weights(mixer.step_bias)[h]);
    }
  }
  int64_t first = 0;
  for (const Segment& segment : segments_) {
    uint8_t* slot = model_.state_.at<uint8_t>(segment.slot * program_.slot_bytes);
    int64_t done = 0;
    for (const Checkpoint& checkpoint : segment.checkpoints) {
      delta_piece(mixer, key_head, slot, {first + done, first + checkpoint.tokens});
      done = checkpoint.tokens;
      copy_delta(mixer, key_head, slot, model_.state_.at<uint8_t>(checkpoint.slot * program_.slot_bytes));
    }
    const int64_t count = static_cast<int64_t>(segment.tokens.size());
    delta_piece(mixer, key_head, slot, {first + done, first + count});
    first += count;
  }
}

void Pass::delta_piece(const DeltaNet& mixer, int64_t key_head, uint8_t* slot, Range tokens) {
  if (tokens.begin >= tokens.end) return;
  const int64_t count = tokens.end - tokens.begin, channels = mixer.channels(), inner = mixer.inner();
  const int64_t key_dim = mixer.key_dim, value_dim = mixer.value_dim, heads = mixer.value_heads;
  const float epsilon = program_.description.norm_epsilon;
  float* mixed = scratch(program_.mixed) + tokens.begin * channels;
  const auto convolve = [&](int64_t channel, int64_t width) {
    program_.convolution({mixed + channel, channels, count, width,
                          reinterpret_cast<float*>(slot + mixer.rows) + channel, weights(mixer.convolution) + channel,
                          channels, mixer.taps});
  };
  const int64_t query = key_head * key_dim, key = mixer.key_heads * key_dim + query;
  convolve(query, key_dim);
  convolve(key, key_dim);
  for (int64_t t = 0; t < count; ++t) {
    program_.l2_norm(mixed + t * channels + query, key_dim, epsilon, 1.0f / std::sqrt(static_cast<float>(key_dim)));
    program_.l2_norm(mixed + t * channels + key, key_dim, epsilon, 1.0f);
  }
  for (int64_t r = 0; r < heads / mixer.key_heads; ++r) {
    const int64_t h = value_head(mixer, key_head, r);
    const int64_t value = 2 * mixer.key_heads * key_dim + h * value_dim;
    convolve(value, value_dim);
    float* out = scratch(program_.attended) + tokens.begin * inner + h * value_dim;
    const float* gate = scratch(program_.output_gate) + tokens.begin * inner + h * value_dim;
    program_.delta_net->run({mixed + query, mixed + key, channels, mixed + value, channels,
                             scratch(program_.decay) + tokens.begin * heads + h,
                             scratch(program_.beta) + tokens.begin * heads + h, heads, out, inner,
                             reinterpret_cast<float*>(slot + mixer.state) + h * key_dim * value_dim, key_dim, value_dim,
                             count, scratch(desk_.kernel)});
    for (int64_t t = 0; t < count; ++t) {
      float* row = out + t * inner;
      program_.rms_norm(row, weights(mixer.norm), row, value_dim, epsilon);
      program_.silu_mul(gate + t * inner, row, row, value_dim);
    }
  }
}

void Pass::copy_delta(const DeltaNet& mixer, int64_t key_head, const uint8_t* from, uint8_t* to) const {
  const auto copy = [&](uint64_t offset, int64_t first, int64_t count) {
    const uint64_t at = offset + static_cast<uint64_t>(first) * sizeof(float);
    std::memcpy(to + at, from + at, static_cast<size_t>(count) * sizeof(float));
  };
  const int64_t keys = mixer.key_heads * mixer.key_dim, size = mixer.key_dim * mixer.value_dim;
  const auto copy_rows = [&](int64_t channel, int64_t width) {
    for (int64_t k = 0; k + 1 < mixer.taps; ++k) copy(mixer.rows, k * mixer.channels() + channel, width);
  };
  copy_rows(key_head * mixer.key_dim, mixer.key_dim);
  copy_rows(keys + key_head * mixer.key_dim, mixer.key_dim);
  for (int64_t r = 0; r < mixer.value_heads / mixer.key_heads; ++r) {
    const int64_t h = value_head(mixer, key_head, r);
    copy_rows(2 * keys + h * mixer.value_dim, mixer.value_dim);
    copy(mixer.state, h * size, size);
  }
}

}  // namespace halogen::backend::cpu
