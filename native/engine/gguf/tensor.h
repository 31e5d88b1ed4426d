// A tensor of a model file, wherever its bytes are.
#pragma once
#include <array>
#include <cstdint>
#include <string_view>

#include "native/engine/gguf/format.h"
#include "native/engine/gguf/mapping.h"

namespace halogen::gguf {

// Rows of a tensor that is stored in another form than its format's blocks.
class Rows {
 public:
  virtual ~Rows() = default;
  // Writes the blocks of rows [begin, end).
  virtual void read(uint64_t begin, uint64_t end, uint8_t* out) const = 0;
  virtual void release() const = 0;
};

// What happens to a matrix's input before the product: each column times its scale; then, in every group of columns,
// rounds of Givens rotations of disjoint pairs: (a, b) becomes (a cos t + b sin t, b cos t - a sin t). ParoQuant.
struct Rotation {
  static constexpr uint64_t group = 128;
  uint64_t columns = 0;
  uint64_t rounds = 0;
  const uint8_t* angles = nullptr;  // half [rounds][columns / 2], of each pair; none of the three is aligned
  const uint8_t* pairs = nullptr;   // int16 [rounds][columns / 2][2], within their group
  const uint8_t* scales = nullptr;  // half [columns]
};

struct Tensor {
  std::string_view name;
  const Format* format = nullptr;
  uint32_t type_id = 0;
  uint32_t dimensions = 1;
  std::array<uint64_t, 4> shape{1, 1, 1, 1};  // shape[0] is contiguous
  uint64_t elements = 0;
  uint64_t offset = 0;  // from the start of its file
  uint64_t bytes = 0;
  const uint8_t* data = nullptr;     // nullptr: `rows` has to make them
  const Mapping* mapping = nullptr;  // that data points into; nullptr: it is in memory
  const Rows* rows = nullptr;
  const Rotation* rotation = nullptr;
};

}  // namespace halogen::gguf
