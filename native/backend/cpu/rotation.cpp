// Rotations of inputs: their tables among the weights, made from angles and pairs as the file has them.
#include <cmath>
#include <cstring>

#include "kernels/cpu/reference/half.h"
#include "native/backend/cpu/model.h"

namespace halogen::backend::cpu {
namespace {

using kernel::reference::float_from_half;

template <typename T>
T read(const uint8_t* at, uint64_t index) {
  T value;
  std::memcpy(&value, at + index * sizeof value, sizeof value);
  return value;
}

bool equal(const gguf::Rotation& a, const gguf::Rotation& b) {
  const uint64_t pairs = a.rounds * a.columns;
  return a.columns == b.columns && a.rounds == b.rounds && std::memcmp(a.scales, b.scales, 2 * a.columns) == 0 &&
         std::memcmp(a.angles, b.angles, pairs) == 0 && std::memcmp(a.pairs, b.pairs, 2 * pairs) == 0;
}

}  // namespace

int Program::place(const gguf::Rotation* rotation) {
  if (rotation == nullptr) return -1;
  rotate = kernels_.function<kernel::Rotate>("rotate");
  // Equal ones belong to one layer, so only the last few are compared.
  constexpr size_t near = 8;
  for (size_t i = rotations.size(); i > 0 && i + near > rotations.size(); --i) {
    const gguf::Rotation& other = *rotations[i - 1].source;
    if (&other == rotation || equal(other, *rotation)) return static_cast<int>(i - 1);
  }
  const uint64_t places = rotation->rounds * rotation->columns;
  RotationTable table;
  table.source = rotation;
  table.columns = static_cast<int64_t>(rotation->columns);
  table.rounds = static_cast<int64_t>(rotation->rounds);
  table.scale = weights_.add(rotation->columns * sizeof(float));
  table.cosine = weights_.add(places * sizeof(float));
  table.sine = weights_.add(places * sizeof(float));
  table.partner = weights_.add(places);
  rotations.push_back(table);
  return static_cast<int>(rotations.size() - 1);
}

void CpuModel::load_rotations() {
  for (const RotationTable& table : program_.rotations) {
    const gguf::Rotation& from = *table.source;
    for (uint64_t c = 0; c < from.columns; ++c)
      weights_.at<float>(table.scale)[c] = float_from_half(read<uint16_t>(from.scales, c));
    for (uint64_t i = 0; i < from.rounds * from.columns / 2; ++i) {
      const double angle = static_cast<double>(float_from_half(read<uint16_t>(from.angles, i)));
      const uint64_t group = 2 * i / gguf::Rotation::group * gguf::Rotation::group;
      const uint16_t first = read<uint16_t>(from.pairs, 2 * i), second = read<uint16_t>(from.pairs, 2 * i + 1);
      const auto put = [&](uint16_t column, uint16_t partner, double sine) {
        weights_.at<float>(table.cosine)[group + column] = static_cast<float>(std::cos(angle));
        weights_.at<float>(table.sine)[group + column] = static_cast<float>(sine);
        weights_.at<uint8_t>(table.partner)[group + column] = static_cast<uint8_t>(partner);
      };
      put(first, second, std::sin(angle));
      put(second, first, -std::sin(angle));
    }
  }
}

kernel::Rotation CpuModel::rotation(int index) const {
  const RotationTable& table = program_.rotations[static_cast<size_t>(index)];
  return {weights_.at<const float>(table.scale),
          weights_.at<const float>(table.cosine),
          weights_.at<const float>(table.sine),
          weights_.at<const uint8_t>(table.partner),
          table.columns,
          table.rounds};
}

}  // namespace halogen::backend::cpu
