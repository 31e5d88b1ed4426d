// ParoQuant weights (AWQ's packing): qweight int32 [columns][rows / 8], qzeros int32 [columns / 128][rows / 8] and
// scales half [columns / 128][rows]; weight (q - z) scale. Facts: arXiv 2511.10645 and its reference code.
#pragma once
#include <vector>

#include "native/engine/checkpoint/safetensors.h"
#include "native/engine/gguf/tensor.h"

namespace halogen::checkpoint {

// One matrix, or the experts of a layer one after the other; as rows of gguf::awq4.
class ParoRows : public gguf::Rows {
 public:
  struct Matrix {
    const Stored *weight, *zeros, *scales;
  };
  ParoRows(std::vector<Matrix> matrices, uint64_t rows, uint64_t columns);

  void read(uint64_t begin, uint64_t end, uint8_t* out) const override;
  void release() const override;

 private:
  void read(const Matrix& matrix, uint64_t begin, uint64_t end, uint8_t* out) const;

  std::vector<Matrix> matrices_;
  uint64_t rows_, columns_;  // of one
};

// The matrix whose parts are named `<base>.qweight` and so on. Sets rows and columns. Throws model.missing_tensor,
// model.tensor_shape, checkpoint.malformed.
ParoRows::Matrix paro_matrix(const Tensors& tensors, const std::string& base, uint64_t& rows, uint64_t& columns);

// `<base>theta`, `<base>pairs` and `<base>channel_scales`, checked: pairs lie within their group and are disjoint.
gguf::Rotation paro_rotation(const Tensors& tensors, const std::string& base, uint64_t columns);

}  // namespace halogen::checkpoint
