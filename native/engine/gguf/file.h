// A model on disk as keys and tensors: a GGUF file, all parts of a split one, or another container in GGUF's terms.
// Values, names and bytes live as long as the File.
#pragma once
#include "native/engine/gguf/part.h"

namespace halogen::gguf {

class File : public Metadata {
 public:
  // Reads and checks the header; of a split model, those of all parts, whichever of them `path` names. Throws file.*
  // and gguf.* errors with the numbers involved.
  explicit File(const std::string& path);
  // A model that is no GGUF, in GGUF's terms. `owner` keeps all that the keys and tensors point to.
  File(std::string path, uint64_t bytes, Metadata metadata, std::vector<Tensor> tensors,
       std::shared_ptr<const void> owner);

  const std::string& path() const { return path_; }
  // Bytes of all parts.
  uint64_t size() const { return size_; }
  uint32_t version() const { return parts_.empty() ? 0 : parts_.front().version; }
  // None where the model is no GGUF.
  const std::vector<Part>& parts() const { return parts_; }
  const std::vector<Tensor>& tensors() const { return tensors_; }
  const Tensor* tensor(std::string_view name) const;
  // nullptr for a tensor that comes by rows.
  const uint8_t* tensor_data(const Tensor& tensor) const { return tensor.data; }
  // Gives the memory of these bytes of a tensor back; they are read again from disk when touched.
  void release(const Tensor& tensor, uint64_t begin, uint64_t end) const;
  // Parts of a split model, one after the other in one file: no reader can use that.
  bool joined() const;

 private:
  void add(std::vector<Tensor> tensors);

  std::string path_;
  std::vector<Part> parts_;
  std::shared_ptr<const void> owner_;
  uint64_t size_ = 0;
  std::vector<Tensor> tensors_;
  std::unordered_map<std::string_view, size_t> tensor_index_;
};

}  // namespace halogen::gguf
