// The attention stage of a pass: projections, rope, the store into pages, and the heads over them.
#include <cmath>
#include <cstring>

#include <cmath>

#include "native/backend/cpu/pass.h"

namespace halogen::backend::cpu {
namespace {

// Query rows of one item: what the kernels multiply with one copy of a block of keys.
constexpr int64_t item_rows = 192;
constexpr int64_t most_item_tokens = 64;

// Tokens of one item, fewer where every member would not get several.
int64_t item_tokens(int64_t tokens, int64_t group, int64_t kv_heads, int64_t members) {
  int64_t each = std::clamp<int64_t>(item_rows / group / 8 * 8, 8, most_item_tokens);
  while (each > 8 && (tokens + each - 1) / each * kv_heads < 4 * members) each = std::max<int64_t>(8, each / 16 * 8);
  return each;
}

// One token's keys are shared out in parts once there are this many: below it a barrier costs more than idle members.
constexpr int64_t fewest_part_keys = 256;

}  // namespace

void Pass::attention(const Block& block) {
  const int64_t tokens = tokens_;
  // Queries and their gates are rows of one tensor, so they share its form.
  prepare(scratch(program_.x), tokens, &block.attention_norm, {&block.query, &block.key, &block.value});
  if (!block.heads_whole) {
    for (const Projection& each : projections(block)) {
      if (each.matrix->rows > 0) multiply(each, tokens, own_part(each.matrix->rows, each.matrix->kernel->row_granule));
    }
    member_.barrier();
  }
  // A head without a key is not counted, nor a value that its key makes.
  const int64_t units = block.heads + (block.key.rows + block.value.rows + block.output_gate.rows) / block.head_dim;
  if (alone()) {
    const Range own = part(units, 1, member_.index(), member_.count());
    project(block, own.begin, own.end);
  } else {
    for (int64_t unit = member_.take(); unit < units; unit = member_.take()) project(block, unit, unit + 1);
  }
  member_.barrier();
  if (const Parts parts = parts_of(block); parts.count > 1) {
    attend_in_parts(block, parts);
  } else {
    attend(block);
  }
  member_.barrier();
  add_product(block.output, scratch(program_.attended), block.attended_norm, {block.attention_output_norm});
}

std::array<Pass::Projection, 4> Pass::projections(const Block& block) const {
  return {{{&block.query, scratch(program_.query), block.query.rows},
           {&block.key, scratch(program_.key), block.key.rows},
           {&block.value, scratch(program_.value), block.value.rows},
           {&block.output_gate, scratch(program_.output_gate), block.output_gate.rows}}};
}

void Pass::project(const Block& block, int64_t begin, int64_t end) {
  const int64_t heads[] = {block.heads, block.key.rows / block.head_dim, block.value.rows / block.head_dim,
                           block.output_gate.rows / block.head_dim};
  int64_t base = 0;
  for (size_t i = 0; i < 4; base += heads[i], ++i) {
    const Range own{std::max<int64_t>(begin - base, 0), std::min(end - base, heads[i])};
    if (own.begin >= own.end) continue;
    const Projection projection = projections(block)[i];
    const auto& [matrix, out, stride] = projection;
    if (block.heads_whole) multiply(projection, tokens_, {own.begin * block.head_dim, own.end * block.head_dim});
    if (i == 3) continue;
    const Vector& norm = i == 0 ? block.query_norm : block.key_norm;
    const RopeTable& table = program_.ropes[block.rope];
    for (int64_t t = 0; t < tokens_; ++t) {
      float* first = out + t * stride + own.begin * block.head_dim;
      if (i == 1 && block.value.rows == 0) value_from_key(block, t, own, first);
      if (i == 2 && block.value_norm) normalise_values(block, own, first);
      if (i < 2) {
        for (int64_t h = 0; norm.source != nullptr && h < own.end - own.begin; ++h) {
          float* head = first + h * block.head_dim;
          program_.rms_norm(head, weights(norm), head, block.head_dim, program_.description.norm_epsilon);
        }
        if (table.rope.rotated > 0) {
          const int64_t half = table.rope.rotated / 2;
          program_.rope(first, own.end - own.begin, block.head_dim, table.rope.rotated,
                        scratch(table.cosine) + t * half, scratch(table.sine) + t * half, block.neox);
        }
      }
      if (i == 0 && block.growth != 0) grow(block, t, own, first);
      if (i > 0) store(block, t, own, first, i == 2);
    }
  }
}

void Pass::grow(const Block& block, int64_t t, Range heads, float* queries) const {
  const int64_t steps = model_.rows_[static_cast<size_t>(t)].position / block.growth_step;
  const float factor = 1.0f + block.growth * std::log(static_cast<float>(steps + 1));
  for (int64_t i = 0; i < (heads.end - heads.begin) * block.head_dim; ++i) queries[i] *= factor;
}

void Pass::value_from_key(const Block& block, int64_t t, Range heads, const float* keys) {
  const int64_t count = (heads.end - heads.begin) * block.head_dim;
  float* values = scratch(program_.value) + t * block.key.rows + heads.begin * block.head_dim;
  std::memcpy(values, keys, static_cast<size_t>(count) * sizeof(float));
  if (block.value_norm) normalise_values(block, heads, values);
  store(block, t, heads, values, true);
}

void Pass::normalise_values(const Block& block, Range heads, float* first) {
  for (int64_t h = heads.begin; h < heads.end; ++h, first += block.head_dim) {
    program_.rms_norm(first, nullptr, first, block.head_dim, program_.description.norm_epsilon);
  }
}

void Pass::store(const Block& block, int64_t t, Range heads, const float* first, bool values) {
  const CpuModel::Row& row = model_.rows_[static_cast<size_t>(t)];
  const uint32_t page = row.segment->pages[block.group][static_cast<size_t>(row.position / page_tokens)];
  for (int64_t h = heads.begin; h < heads.end; ++h) {
    program_.kv_store(first + (h - heads.begin) * block.head_dim, page_of(block, page, h, values),
                      row.position % page_tokens, page_tokens, block.head_dim);
  }
}

uint8_t* Pass::page_of(const Block& block, uint32_t page, int64_t kv_head, bool values) const {
  const uint64_t index = static_cast<uint64_t>(kv_head) * 2 + (values ? 1 : 0);
  return model_.kv_.at<uint8_t>(program_.page_at(block.group, page) + block.kv_offset + index * block.kv_bytes);
}

void Pass::attend(const Block& block) {
  const int64_t group = block.heads / block.kv_heads;
  int64_t first_row = 0;
  int64_t unit = alone() ? 0 : member_.take();
  int64_t base = 0;
  for (const Segment& segment : segments_) {
    const int64_t count = static_cast<int64_t>(segment.tokens.size());
    if (alone()) {
      // One token: query heads are shared out one by one, also within a group.
      const Range own = part(block.heads, 1, member_.index(), member_.count());
      for (int64_t h = own.begin; h < own.end;) {
        const int64_t kv_head = h / group;
        const int64_t end = std::min(own.end, (kv_head + 1) * group);
        attend_to(block, segment, kv_head, h, end - h, 0, 1, first_row);
        h = end;
      }
    } else {
      const int64_t most = item_tokens(count, group, block.kv_heads, member_.count());
      const int64_t blocks = (count + most - 1) / most;
      const int64_t units = blocks * block.kv_heads;
      for (; unit < base + units; unit = member_.take()) {
        const int64_t index = units - 1 - (unit - base);  // the last tokens see most and go first
        const int64_t begin = index / block.kv_heads * most;
        const int64_t kv_head = index % block.kv_heads;
        attend_to(block, segment, kv_head, kv_head * group, group, begin, std::min(most, count - begin), first_row);
      }
      base += units;
    }
    first_row += count;
  }
}

Pass::Parts Pass::parts_of(const Block& block) const {
  if (!alone() || member_.count() == 1) return {};
  const int64_t end = segments_[0].position + 1;
  const int64_t begin = block.window > 0 ? std::max<int64_t>(0, end - block.window) : 0;
  const int64_t wanted = most_parts(block.kv_heads, member_.count());
  const int64_t pages = std::max((end - begin + wanted - 1) / wanted, fewest_part_keys) / page_tokens + 1;
  const int64_t first_page = begin / page_tokens;
  return {first_page, pages, (end - first_page * page_tokens + pages * page_tokens - 1) / (pages * page_tokens)};
}

// Item: one KV head's keys of one part, for all query heads that share it. Then every member puts some heads together.
void Pass::attend_in_parts(const Block& block, const Parts& parts) {
  const int64_t group = block.heads / block.kv_heads;
  const int64_t width = group * block.head_dim;
  const auto sums = [&](int64_t item) { return scratch(program_.part_sums) + item * width; };
  const auto ends = [&](int64_t item) { return scratch(program_.part_ends) + item * 2 * group; };
  for (int64_t item = member_.take(); item < block.kv_heads * parts.count; item = member_.take()) {
    const int64_t kv_head = item / parts.count, part = item % parts.count;
    kernel::AttentionRun run = run_of(block, segments_[0], kv_head, kv_head * group, group, 0, 1, 0);
    run.out = sums(item);
    run.out_stride = width;
    run.part = ends(item);
    run.key_begin = (parts.first_page + part * parts.pages) * page_tokens;
    run.key_end = run.key_begin + parts.pages * page_tokens;
    if (part > 0) run.sinks = nullptr;
    program_.attention->run(run);
  }
  member_.barrier();
  const Range own = own_part(block.heads);
  for (int64_t h = own.begin; h < own.end; ++h) {
    const int64_t first = h / group * parts.count, row = h % group;
    float largest = ends(first)[2 * row], total = 0;
    for (int64_t i = 1; i < parts.count; ++i) largest = std::max(largest, ends(first + i)[2 * row]);
    float* out = scratch(program_.attended) + h * block.head_dim;
    std::fill_n(out, block.head_dim, 0.0f);
    for (int64_t i = 0; i < parts.count; ++i) {
      const float weight = std::exp2(ends(first + i)[2 * row] - largest);
      const float* sum = sums(first + i) + row * block.head_dim;
      total += weight * ends(first + i)[2 * row + 1];
      for (int64_t d = 0; d < block.head_dim; ++d) out[d] += weight * sum[d];
    }
    for (int64_t d = 0; d < block.head_dim; ++d) out[d] /= total;
  }
  if (own.begin < own.end) gate_attended(block, own.begin * block.head_dim, own.end - own.begin, 1);
}

kernel::AttentionRun Pass::run_of(const Block& block, const Segment& segment, int64_t kv_head, int64_t head,
                                  int64_t heads, int64_t begin, int64_t count, int64_t first_row) const {
  const int64_t stride = block.heads * block.head_dim;
  const int64_t place = (first_row + begin) * stride + head * block.head_dim;
  const int64_t position = segment.position + begin;
  const void** keys = model_.scratch_.at<const void*>(desk_.key_pages);
  const void** values = model_.scratch_.at<const void*>(desk_.value_pages);
  const std::span<const uint32_t> pages = segment.pages[block.group];
  // Pages before the window may be gone: not even their addresses are made.
  const int64_t seen = block.window > 0 ? std::max<int64_t>(0, position - block.window + 1) : 0;
  for (int64_t i = seen / page_tokens; i <= (position + count - 1) / page_tokens; ++i) {
    keys[i] = page_of(block, pages[static_cast<size_t>(i)], kv_head, false);
    values[i] = page_of(block, pages[static_cast<size_t>(i)], kv_head, true);
  }
  return {scratch(program_.query) + place,
          stride,
          scratch(program_.attended) + place,
          stride,
          keys,
          values,
          page_tokens,
          block.head_dim,
          heads,
          count,
          position,
          block.window,
          block.scale,
          scratch(desk_.kernel),
          block.sinks.source != nullptr ? weights(block.sinks) + head : nullptr};
}

void Pass::attend_to(const Block& block, const Segment& segment, int64_t kv_head, int64_t head, int64_t heads,
                     int64_t begin, int64_t count, int64_t first_row) {
  program_.attention->run(run_of(block, segment, kv_head, head, heads, begin, count, first_row));
  gate_attended(block, (first_row + begin) * block.heads * block.head_dim + head * block.head_dim, heads, count);
}

void Pass::gate_attended(const Block& block, int64_t place, int64_t heads, int64_t count) {
  const int64_t stride = block.heads * block.head_dim;
  if (block.output_gate.rows == 0) return;
  for (int64_t t = 0; t < count; ++t) {
    program_.sigmoid_mul(scratch(program_.output_gate) + place + t * stride,
                         scratch(program_.attended) + place + t * stride, heads * block.head_dim);
  }
}

}  // namespace halogen::backend::cpu
