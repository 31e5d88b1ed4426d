// A model on disk as keys and tensors: a GGUF file, or all parts of a split one. Values and names live as long as the
// File.
#pragma once
#include "native/engine/gguf/part.h"

namespace halogen::gguf {

class File : public Metadata {
 public:
  // Reads and checks the header; of a split model, those of all parts, whichever of them `path` names. Throws file.*
  // and gguf.* errors with the numbers involved.
  explicit File(const std::string& path);

  const std::string& path() const { return path_; }
  // Bytes of all parts.
  uint64_t size() const;
  uint32_t version() const { return parts_.front().version; }
  const std::vector<Part>& parts() const { return parts_; }
  const std::vector<Tensor>& tensors() const { return tensors_; }
  const Tensor* tensor(std::string_view name) const;
  const uint8_t* tensor_data(const Tensor& tensor) const { return parts_[tensor.part].mapping->data() + tensor.offset; }
  // Gives the memory of these bytes of a tensor back; they are read again from disk when touched.
  void release(const Tensor& tensor, uint64_t begin, uint64_t end) const;
  // Parts of a split model, one after the other in one file: no reader can use that.
  bool joined() const;

 private:
  std::string path_;
  std::vector<Part> parts_;
  std::vector<Tensor> tensors_;
  std::unordered_map<std::string_view, size_t> tensor_index_;
};

}  // namespace halogen::gguf
