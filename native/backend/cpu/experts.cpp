// The experts of a layer: each token's best few, weighted by how well they score.
#include <cmath>
#include <cstring>
#include <limits>
#include <numeric>

#include "native/backend/cpu/pass.h"

namespace halogen::backend::cpu {

namespace {

// Takes the experts of all but the best groups out of the choice. `best_two`: [groups], what ranks each.
void leave_groups(const model::Choice& choice, int64_t count, double* ranks, double* best_two) {
  constexpr double none = -std::numeric_limits<double>::infinity();
  const int64_t size = count / choice.groups;
  for (int64_t g = 0; g < choice.groups; ++g) {
    double first = none, second = none;
    for (int64_t i = g * size; i < (g + 1) * size; ++i) {
      if (ranks[i] > first) {
        second = first;
        first = ranks[i];
      } else if (ranks[i] > second) {
        second = ranks[i];
      }
    }
    best_two[g] = size > 1 ? first + second : first;
  }
  for (int64_t left = choice.groups - choice.used_groups; left > 0; --left) {
    // The last of the worst, so that the first of equals stays.
    int64_t worst = -1;
    for (int64_t g = 0; g < choice.groups; ++g) {
      if (std::isinf(best_two[g]) && best_two[g] > 0) continue;
      if (worst < 0 || best_two[g] <= best_two[worst]) worst = g;
    }
    if (worst < 0) return;
    best_two[worst] = -none;
    std::fill(ranks + worst * size, ranks + (worst + 1) * size, none);
  }
}

// The `most` best of `count` ranks, best first, and of equals the first.
void best_of(const double* ranks, int64_t count, int32_t* best, int64_t most) {
  int64_t found = 0;
  for (int64_t i = 0; i < count; ++i) {
    if (found == most && !(ranks[i] > ranks[best[most - 1]])) continue;
    int64_t at = found < most ? found++ : most - 1;
    for (; at > 0 && ranks[i] > ranks[best[at - 1]]; --at) best[at] = best[at - 1];
    best[at] = static_cast<int32_t>(i);
  }
}

}  // namespace

void Pass::experts(const Block& block) {
  const bool shared = block.shared_gate.rows > 0;
  const float* x = scratch(program_.x);
  if (shared) {
    prepare(x, tokens_, &block.feed_forward_norm, {&block.router, &block.shared_gate});
    if (member_.index() == 0) multiply(block.shared_gate, tokens_, scratch(program_.shared_gate), {0, 1});
  } else {
    prepare(x, tokens_, block.apart() ? &block.router_norm : &block.feed_forward_norm, {&block.router});
  }
  multiply(block.router, tokens_, scratch(program_.router),
           own_part(block.router.rows, block.router.kernel->row_granule));
  member_.barrier();
  if (block.apart()) {
    const int64_t width = block.experts_norm.count;
    const Range own = alone() ? Range{0, 1} : own_part(tokens_);
    float* rows = scratch(alone() ? desk_.normed : program_.normed);
    for (int64_t t = own.begin; t < own.end; ++t) {
      std::memcpy(rows + t * width, x + t * width, static_cast<size_t>(width) * sizeof(float));
      normalise(rows + t * width, block.experts_norm);
    }
  }
  if (alone()) {
    experts_of_one(block);
  } else {
    experts_of_many(block);
  }
  end_stage();
}

void Pass::choose(const Block& block, int64_t t, int32_t* experts, float* shares) {
  const int64_t count = block.router.rows;
  const model::Choice& choice = block.choice;
  const float* logits = scratch(program_.router) + t * count;
  double* scores = scratch<double>(desk_.scores);
  if (choice.gating == model::Gating::softmax) {
    const double highest = static_cast<double>(*std::max_element(logits, logits + count));
    double sum = 0;
    for (int64_t i = 0; i < count; ++i) sum += scores[i] = std::exp(static_cast<double>(logits[i]) - highest);
    for (int64_t i = 0; i < count; ++i) scores[i] /= sum;
  } else {
    for (int64_t i = 0; i < count; ++i) scores[i] = 1 / (1 + std::exp(-static_cast<double>(logits[i])));
  }
  const float* bias = weights(block.choice_bias);
  double* ranks = scores + count;
  for (int64_t i = 0; i < count; ++i) ranks[i] = scores[i] + (bias != nullptr ? static_cast<double>(bias[i]) : 0);
  if (choice.groups > 1) leave_groups(choice, count, ranks, ranks + count);
  best_of(ranks, count, experts, choice.used);
  double total = 0;
  for (int64_t k = 0; k < choice.used; ++k) total += scores[experts[k]];
  for (int64_t k = 0; k < choice.used; ++k) {
    const double share = scores[experts[k]] / (choice.normalised ? total + 1e-20 : 1);
    shares[k] = static_cast<float>(share) * choice.scale;
  }
}

void Pass::experts_of_one(const Block& block) {
  int32_t* chosen = scratch<int32_t>(desk_.chosen);
  float* shares = scratch(desk_.shares);
  choose(block, 0, chosen, shares);

  // All experts of a layer have the same kernels, so that one form serves each.
  const Expert& first = block.experts.front();
  const int64_t inner = first.gate.rows;
  if (block.beside()) {
    prepare(scratch(desk_.normed), 1, nullptr, {&first.gate, &first.up, &block.gate, &block.up});
    feed_rows(block, own_part(block.gate.rows, block.feed_granule()));
  } else {
    prepare(scratch(desk_.normed), 1, nullptr, {&first.gate, &first.up});
  }
  const Range own = own_part(inner, std::lcm(first.gate.kernel->row_granule, first.up.kernel->row_granule));
  for (int64_t k = 0; k < block.choice.used && own.begin < own.end; ++k) {
    const Expert& expert = block.experts[static_cast<size_t>(chosen[k])];
    float* gate = scratch(program_.expert_gate) + k * inner;
    float* up = scratch(program_.expert_up) + k * inner;
    multiply(expert.gate, 1, gate, own);
    multiply(expert.up, 1, up, own);
    block.activate(gate + own.begin, up + own.begin, gate + own.begin, own.end - own.begin);
  }
  member_.barrier();
  float* out = scratch(block.apart() ? program_.apart : program_.x);
  float* sum = scratch(program_.sum);
  const Range rows = own_part(first.down.rows, first.down.kernel->row_granule);
  for (int64_t k = 0; k < block.choice.used && rows.begin < rows.end; ++k) {
    const Expert& expert = block.experts[static_cast<size_t>(chosen[k])];
    prepare(scratch(program_.expert_gate) + k * inner, 1, nullptr, {&expert.down});
    multiply(expert.down, 1, sum, rows);
    const bool first_of_all = block.apart() && k == 0;
    for (int64_t r = rows.begin; r < rows.end; ++r) out[r] = (first_of_all ? 0 : out[r]) + shares[k] * sum[r];
  }
  if (!block.beside()) return;
  prepare(scratch(program_.gate), 1, nullptr, {&block.down});
  const Range last = own_part(block.down.rows, block.down.kernel->row_granule);
  multiply(block.down, 1, sum, last);
  program_.add(out + last.begin, sum + last.begin, last.end - last.begin);
}

void Pass::experts_of_many(const Block& block) {
  const int64_t used = block.choice.used;
  const int64_t width = program_.description.embedding;
  int32_t* chosen = scratch<int32_t>(program_.chosen);
  float* shares = scratch(program_.shares);
  const Range own = own_part(tokens_);
  for (int64_t t = own.begin; t < own.end; ++t) choose(block, t, chosen + t * used, shares + t * used);
  member_.barrier();

  // Slots (token and choice) in order of their expert; ends[e] is where those of expert e end.
  int32_t* ends = scratch<int32_t>(desk_.ends);
  int32_t* order = scratch<int32_t>(desk_.order);
  const int64_t slots = tokens_ * used;
  const size_t count = block.experts.size();
  std::fill(ends, ends + count + 1, 0);
  for (int64_t slot = 0; slot < slots; ++slot) ++ends[chosen[slot] + 1];
  for (size_t e = 0; e < count; ++e) ends[e + 1] += ends[e];
  int32_t* places = scratch<int32_t>(desk_.places);
  for (int64_t slot = 0; slot < slots; ++slot) {
    places[slot] = ends[chosen[slot]]++;
    order[places[slot]] = static_cast<int32_t>(slot);
  }

  int64_t unit = member_.take();
  int64_t base = 0;
  int64_t begin = 0;
  for (size_t e = 0; e < count; begin = ends[e], ++e) {
    const int64_t pieces = (ends[e] - begin + expert_tokens - 1) / expert_tokens;
    for (; unit < base + pieces; unit = member_.take()) {
      const int64_t from = begin + (unit - base) * expert_tokens;
      expert_piece(block, block.experts[e], order + from, std::min(expert_tokens, ends[e] - from),
                   scratch(program_.expert_out) + from * width);
    }
    base += pieces;
  }
  member_.barrier();
  // Always in the order of choice, so that sums do not depend on which member was faster.
  const auto row_of = [&](int64_t slot) { return scratch(program_.expert_out) + places[slot] * width; };
  for (int64_t slot = own.begin * used; slot < own.end * used; ++slot) {
    float* to = scratch(block.apart() ? program_.apart : program_.x) + slot / used * width;
    const float* out = row_of(slot);
    // The next row lies anywhere.
    const float* next = row_of(std::min(slot + 1, own.end * used - 1));
    const bool first_of_all = block.apart() && slot % used == 0;
    if (first_of_all) std::fill(to, to + width, 0.0f);
    for (int64_t i = 0; i < width; i += 16) {
      __builtin_prefetch(next + i);
      for (int64_t k = i; k < std::min(i + 16, width); ++k) to[k] += shares[slot] * out[k];
    }
  }
}

void Pass::expert_piece(const Block& block, const Expert& expert, const int32_t* slots, int64_t count, float* out) {
  const int64_t width = program_.description.embedding;
  const size_t bytes = static_cast<size_t>(width) * sizeof(float);
  const int64_t inner = expert.gate.rows;
  float* rows = scratch(desk_.expert_rows);
  float* gate = scratch(desk_.expert_gate);
  float* up = scratch(desk_.expert_up);
  for (int64_t i = 0; i < count; ++i) {
    std::memcpy(rows + i * width, scratch(program_.normed) + slots[i] / block.choice.used * width, bytes);
  }
  form(rows, count, {0, count}, {&expert.gate, &expert.up}, true);
  multiply(expert.gate, count, gate, {0, inner});
  multiply(expert.up, count, up, {0, inner});
  block.activate(gate, up, gate, count * inner);
  form(gate, count, {0, count}, {&expert.down}, true);
  multiply(expert.down, count, out, {0, width});
}

}  // namespace halogen::backend::cpu
