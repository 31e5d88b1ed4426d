#include "native/engine/checkpoint/paroquant.h"

#include <algorithm>
#include <bitset>
#include <cstring>

#include "native/engine/error.h"

namespace halogen::checkpoint {
namespace {

constexpr uint64_t group = gguf::Rotation::group;
constexpr uint64_t block_bytes = 68;  // of gguf::awq4, one group
constexpr const char* hint = "Try another conversion of this model.";

template <typename T>
T load(const uint8_t* at) {
  T value;
  std::memcpy(&value, at, sizeof value);
  return value;
}

// Where column c of eight is in a word: even ones in the lower four nibbles.
uint32_t shift_of(uint64_t c) {
  return static_cast<uint32_t>(4 * (c % 8 / 2 + (c % 2) * 4));
}

std::string shape_of(const std::vector<uint64_t>& shape) {
  std::string text;
  for (const uint64_t each : shape) text += (text.empty() ? "" : " x ") + std::to_string(each);
  return text;
}

const Stored& need(const Tensors& tensors, const std::string& name, const char* type,
                   const std::vector<uint64_t>& shape) {
  const Stored* found = tensors.find(name);
  if (found == nullptr) {
    throw Error(code::model_missing_tensor, "The model lacks the tensor \"" + name + "\".", hint, {{"tensor", name}});
  }
  if (found->type != type) {
    throw Error(code::model_unsupported_format,
                "Tensor \"" + name + "\" is in " + found->type + "; Halogen reads it in " + type + ".", hint,
                {{"tensor", name}, {"format", found->type}});
  }
  if (!shape.empty() && found->shape != shape) {
    throw Error(code::model_tensor_shape,
                "Tensor \"" + name + "\" is " + shape_of(found->shape) + "; it should be " + shape_of(shape) + ".",
                hint, {{"tensor", name}, {"expected", shape_of(shape)}, {"actual", shape_of(found->shape)}});
  }
  return *found;
}

}  // namespace

ParoRows::ParoRows(std::vector<Matrix> matrices, uint64_t rows, uint64_t columns)
    : matrices_(std::move(matrices)), rows_(rows), columns_(columns) {}

void ParoRows::read(uint64_t begin, uint64_t end, uint8_t* out) const {
  const uint64_t row_bytes = columns_ / group * block_bytes;
  while (begin < end) {
    const uint64_t first = begin % rows_, count = std::min(end - begin, rows_ - first);
    read(matrices_[begin / rows_], first, first + count, out);
    begin += count;
    out += count * row_bytes;
  }
}

// Group by group and eight rows at a time: the words of a group's columns lie far apart, but those of the next rows are
// beside them.
void ParoRows::read(const Matrix& matrix, uint64_t begin, uint64_t end, uint8_t* out) const {
  const uint64_t row_bytes = columns_ / group * block_bytes, words = rows_ / 8 * 4;
  for (uint64_t g = 0; g < columns_ / group; ++g) {
    const uint8_t* zeros = matrix.zeros->data + g * words;
    const uint8_t* scales = matrix.scales->data + g * rows_ * 2;
    for (uint64_t eight = begin / 8; eight * 8 < end; ++eight) {
      uint32_t codes[group];
      for (uint64_t c = 0; c < group; ++c)
        codes[c] = load<uint32_t>(matrix.weight->data + (g * group + c) * words + eight * 4);
      const uint32_t zero_word = load<uint32_t>(zeros + eight * 4);
      for (uint64_t row = std::max(begin, eight * 8); row < std::min(end, eight * 8 + 8); ++row) {
        const uint32_t shift = shift_of(row);
        uint8_t* to = out + (row - begin) * row_bytes + g * block_bytes;
        const auto zero = static_cast<uint16_t>(zero_word >> shift & 15);
        std::memcpy(to, scales + row * 2, 2);
        std::memcpy(to + 2, &zero, 2);
        uint8_t* nibbles = to + 4;
        for (const uint32_t* run = codes; run < codes + group; run += 32, nibbles += 16) {
          for (int i = 0; i < 16; ++i)
            nibbles[i] = static_cast<uint8_t>((run[i] >> shift & 15) | (run[i + 16] >> shift & 15) << 4);
        }
      }
    }
  }
}

void ParoRows::release() const {
  for (const Matrix& matrix : matrices_) {
    for (const Stored* part : {matrix.weight, matrix.zeros, matrix.scales})
      part->mapping->drop(part->offset, part->offset + part->bytes);
  }
}

ParoRows::Matrix paro_matrix(const Tensors& tensors, const std::string& base, uint64_t& rows, uint64_t& columns) {
  const Stored& weight = need(tensors, base + ".qweight", "I32", {});
  const uint64_t k = weight.shape.size() == 2 ? weight.shape[0] : 0,
                 n8 = weight.shape.size() == 2 ? weight.shape[1] : 0;
  if (k == 0 || n8 == 0 || k % group != 0 || n8 > (1u << 24)) {
    throw Error(code::model_tensor_shape,
                "Tensor \"" + base + ".qweight\" is " + shape_of(weight.shape) +
                    "; its first dimension should be a "
                    "multiple of " +
                    std::to_string(group) + ".",
                hint, {{"tensor", base + ".qweight"}, {"actual", shape_of(weight.shape)}});
  }
  rows = 8 * n8;
  columns = k;
  return {&weight, &need(tensors, base + ".qzeros", "I32", {k / group, n8}),
          &need(tensors, base + ".scales", "F16", {k / group, rows})};
}

gguf::Rotation paro_rotation(const Tensors& tensors, const std::string& base, uint64_t columns) {
  const Stored& pairs = need(tensors, base + "pairs", "I16", {});
  const uint64_t rounds = pairs.shape.empty() ? 0 : pairs.shape[0];
  if (rounds == 0 || rounds > 64) {
    throw Error(code::model_tensor_shape, "Tensor \"" + base + "pairs\" has " + std::to_string(rounds) + " rounds.",
                hint, {{"tensor", base + "pairs"}, {"rounds", rounds}});
  }
  need(tensors, base + "pairs", "I16", {rounds, columns});
  gguf::Rotation rotation;
  rotation.columns = columns;
  rotation.rounds = rounds;
  rotation.angles = need(tensors, base + "theta", "F16", {rounds, columns / 2}).data;
  rotation.scales = need(tensors, base + "channel_scales", "F16", {1, columns}).data;
  rotation.pairs = pairs.data;
  for (uint64_t at = 0; at < rounds * columns; at += group) {
    std::bitset<group> seen;
    for (uint64_t i = 0; i < group; ++i) {
      const int16_t index = load<int16_t>(pairs.data + 2 * (at + i));
      if (index < 0 || index >= static_cast<int16_t>(group) || seen[static_cast<size_t>(index)]) {
        throw Error(code::checkpoint_malformed,
                    "Tensor \"" + base + "pairs\" names column " + std::to_string(index) + " of group " +
                        std::to_string(at % columns / group) + " in round " + std::to_string(at / columns) +
                        ", which is not in the group or was paired before.",
                    hint, {{"tensor", base + "pairs"}, {"index", index}});
      }
      seen.set(static_cast<size_t>(index));
    }
  }
  return rotation;
}

}  // namespace halogen::checkpoint
