#include "native/engine/gguf/file.h"

#include "native/engine/gguf/split.h"

namespace halogen::gguf {

File::File(const std::string& path) : path_(path), parts_(all_parts(Part(path))) {
  static_cast<Metadata&>(*this) = parts_.front().metadata;
  for (uint32_t i = 0; i < parts_.size(); ++i) {
    for (Tensor tensor : parts_[i].tensors) {
      tensor.part = i;
      tensor_index_.emplace(tensor.name, tensors_.size());
      tensors_.push_back(tensor);
    }
  }
}

uint64_t File::size() const {
  uint64_t bytes = 0;
  for (const Part& part : parts_) bytes += part.mapping->size();
  return bytes;
}

const Tensor* File::tensor(std::string_view name) const {
  const auto found = tensor_index_.find(name);
  return found == tensor_index_.end() ? nullptr : &tensors_[found->second];
}

void File::release(const Tensor& tensor, uint64_t begin, uint64_t end) const {
  parts_[tensor.part].mapping->drop(tensor.offset + begin, tensor.offset + end);
}

bool File::joined() const {
  return is_joined(parts_.front());
}

}  // namespace halogen::gguf
