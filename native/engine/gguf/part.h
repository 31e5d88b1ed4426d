// One GGUF file: a whole model, or one part of a split one. Keys and tensors, checked, with the mapping they point
// into.
#pragma once
#include <array>
#include <memory>

#include "native/engine/gguf/format.h"
#include "native/engine/gguf/mapping.h"
#include "native/engine/gguf/metadata.h"

namespace halogen::gguf {

struct Tensor {
  std::string_view name;
  const Format* format = nullptr;
  uint32_t type_id = 0;
  uint32_t dimensions = 1;
  std::array<uint64_t, 4> shape{1, 1, 1, 1};  // shape[0] is contiguous
  uint64_t elements = 0;
  uint64_t offset = 0;  // from the start of its part
  uint64_t bytes = 0;
  uint32_t part = 0;
};

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
