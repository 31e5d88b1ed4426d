// One GGUF file: a whole model, or one part of a split one. Keys and tensors, checked, with the mapping they point
// into.
#pragma once
#include <memory>

#include "native/engine/gguf/metadata.h"
#include "native/engine/gguf/tensor.h"

namespace halogen::gguf {

struct Part {
  // Reads and checks the header. Throws file.* and gguf.* errors with the numbers involved.
  explicit Part(const std::string& path);

  std::string path;
  std::unique_ptr<Mapping> mapping;
  uint32_t version = 0;
  // Where the last tensor ends; more bytes than that may follow in a file with something appended.
  uint64_t data_end = 0;
  Metadata metadata;
  std::vector<Tensor> tensors;
};

}  // namespace halogen::gguf
