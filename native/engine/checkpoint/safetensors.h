// The safetensors container: u64 header length, a JSON header, data. Checked before anything is used.
#pragma once
#include <memory>
#include <string>
#include <unordered_map>
#include <vector>

#include "native/engine/gguf/mapping.h"

namespace halogen::checkpoint {

struct Stored {
  std::string type;  // "F32", "F16", "BF16", "I32", "I16", ...
  std::vector<uint64_t> shape;
  const uint8_t* data = nullptr;  // not aligned
  uint64_t bytes = 0;
  uint64_t elements = 1;
  uint64_t offset = 0;  // in its file
  const gguf::Mapping* mapping = nullptr;
};

// The tensors of a folder's safetensors files: one model.safetensors, or those that model.safetensors.index.json names.
class Tensors {
 public:
  // Throws file.missing, checkpoint.malformed and checkpoint.truncated, with the file and the numbers.
  explicit Tensors(const std::string& folder);

  // nullptr where there is none of that name.
  const Stored* find(const std::string& name) const;
  uint64_t bytes() const;  // of the files

 private:
  void read(const std::string& folder, const std::string& file);

  std::vector<std::unique_ptr<gguf::Mapping>> mappings_;
  std::unordered_map<std::string, Stored> tensors_;
};

// A whole file as text; empty where it is not there. Throws checkpoint.malformed beyond `most` bytes.
std::string read_text(const std::string& path, uint64_t most);

}  // namespace halogen::checkpoint
