// A model of another container put into GGUF's terms, key by key and tensor by tensor.
#pragma once
#include <deque>

#include "native/engine/checkpoint/paroquant.h"
#include "native/engine/gguf/file.h"

namespace halogen::checkpoint {

class Builder {
 public:
  explicit Builder(const std::string& folder);

  const Tensors& stored() const { return owner_->stored; }

  void key(const std::string& name, uint64_t value);
  void key(const std::string& name, double value);
  void key(const std::string& name, const std::string& value);
  void key(const std::string& name, const std::vector<bool>& values);
  void flag(const std::string& name, bool value);

  // `from` as it is stored, with its shape turned round or the one given (contiguous dimension first).
  void tensor(const std::string& name, const std::string& from, std::vector<uint64_t> shape = {});
  // Made of `from` number by number, as floats in memory.
  void vector(const std::string& name, const std::string& from, float (*make)(float));
  // `<from>.weight`, or the ParoQuant matrix of that name with its rotation.
  void matrix(const std::string& name, const std::string& from);
  // One matrix for each expert, all with one rotation, named `<rotation>theta` and so on.
  void experts(const std::string& name, const std::vector<std::string>& from, const std::string& rotation);

  gguf::File finish(const std::string& path);

 private:
  struct Owner {
    explicit Owner(const std::string& folder) : stored(folder) {}
    Tensors stored;
    std::deque<std::string> texts;
    std::deque<std::vector<uint8_t>> memory;
    std::deque<ParoRows> rows;
    std::deque<gguf::Rotation> rotations;
  };

  const Stored& need(const std::string& name) const;
  const gguf::Rotation* rotation(const std::string& base, uint64_t columns);
  void add(const std::string& name, const gguf::Format& format, std::vector<uint64_t> shape, gguf::Tensor tensor);
  void add_key(const std::string& name, gguf::Value value, const void* data, size_t bytes);

  std::shared_ptr<Owner> owner_;
  gguf::Metadata metadata_;
  std::vector<gguf::Tensor> tensors_;
};

// F32, F16 or BF16 as floats. Throws model.unsupported_format.
std::vector<float> floats(const Stored& stored, const std::string& name);

}  // namespace halogen::checkpoint
