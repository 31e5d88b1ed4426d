#include "native/engine/gguf/file.h"

#include "native/engine/gguf/split.h"

namespace halogen::gguf {

File::File(const std::string& path) : path_(path), parts_(all_parts(Part(path))) {
  static_cast<Metadata&>(*this) = parts_.front().metadata;
  for (const Part& part : parts_) {
    size_ += part.mapping->size();
    add(part.tensors);
  }
}

File::File(std::string path, uint64_t bytes, Metadata metadata, std::vector<Tensor> tensors,
           std::shared_ptr<const void> owner)
    : Metadata(std::move(metadata)), path_(std::move(path)), owner_(std::move(owner)), size_(bytes) {
  add(std::move(tensors));
}

void File::add(std::vector<Tensor> tensors) {
  for (Tensor& tensor : tensors) {
    tensor_index_.emplace(tensor.name, tensors_.size());
    tensors_.push_back(tensor);
  }
}

const Tensor* File::tensor(std::string_view name) const {
  const auto found = tensor_index_.find(name);
  return found == tensor_index_.end() ? nullptr : &tensors_[found->second];
}

void File::release(const Tensor& tensor, uint64_t begin, uint64_t end) const {
  if (tensor.rows != nullptr) tensor.rows->release();
  if (tensor.mapping != nullptr) tensor.mapping->drop(tensor.offset + begin, tensor.offset + end);
}

bool File::joined() const {
  return !parts_.empty() && is_joined(parts_.front());
}

}  // namespace halogen::gguf
