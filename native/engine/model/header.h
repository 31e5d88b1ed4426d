// Metadata and tensors of one architecture, with the checks every architecture file needs.
#pragma once
#include <string>
#include <string_view>
#include <unordered_set>

#include "native/engine/model/description.h"

namespace halogen::model {

class Header {
 public:
  Header(const gguf::File& file, std::string prefix) : file_(file), prefix_(std::move(prefix)) {}

  const gguf::File& file() const { return file_; }
  std::string key(std::string_view name) const { return prefix_ + "." + std::string(name); }

  // `name` is without the architecture's prefix. Absent: model.missing_key. Outside [least, most]: model.bad_value.
  int64_t whole(std::string_view name, int64_t least, int64_t most) const;
  int64_t whole_or(std::string_view name, int64_t fallback, int64_t least, int64_t most) const;
  // Of a key that may be a scalar or an array with one entry per layer.
  int64_t whole_at(std::string_view name, int64_t layer, int64_t fallback, int64_t least, int64_t most) const;
  double real_or(std::string_view name, double fallback, double least, double most) const;
  double real(std::string_view name, double least, double most) const;
  // attention.sliding_window_pattern: every how many layers one sees everything, or for each layer whether it slides.
  std::vector<bool> sliding_layers(int64_t layers, int64_t period) const;
  // attention.recurrent_layers, for each layer whether it has another mixer than attention; absent: all but every
  // full_attention_interval-th.
  std::vector<bool> recurrent_layers(int64_t layers) const;
  bool boolean_or(std::string_view name, bool fallback) const;
  std::string string_or(std::string_view name, std::string_view fallback) const;

  // `name` is the full tensor name. Absent: model.missing_tensor. Another shape: model.tensor_shape.
  Matrix matrix(const std::string& name, int64_t columns, int64_t rows) const;
  // Rows [first, first + rows) of a tensor of `total` rows.
  Matrix slice(const std::string& name, int64_t columns, int64_t first, int64_t rows, int64_t total) const;
  // One of several matrices whose rows alternate: `groups` times `together` rows, `stride` apart, in place of the
  // whole.
  static Matrix alternate(Matrix whole, int64_t groups, int64_t first, int64_t together, int64_t stride);
  // With the bias of the same base name, where there is one.
  Matrix matrix_with_bias(const std::string& base, int64_t columns, int64_t rows) const;
  Matrix slice_with_bias(const std::string& base, int64_t columns, int64_t first, int64_t rows, int64_t total) const;
  // `count` matrices in one tensor, and their biases in another, where there is one.
  std::vector<Matrix> stack(const std::string& base, int64_t columns, int64_t rows, int64_t count) const;
  // The only element of an F32 tensor, or 1 where there is none.
  float factor(const std::string& name) const;
  const gguf::Tensor* vector(const std::string& name, int64_t count) const;
  const gguf::Tensor* vector_or_null(const std::string& name, int64_t count) const;

  // [rows][columns] of numbers that no product is made with.
  const gguf::Tensor* table(const std::string& name, int64_t columns, int64_t rows) const;

  // A matrix that may stand in the file and plays no part.
  void ignore(const std::string& name) const;
  // A weight, bias or scale of blocks 0 .. layers - 1 that nothing has read would make the numbers wrong, and so would
  // a scale of a matrix outside of them: model.bad_value.
  void require_all_read(int64_t layers) const;

  // model.bad_value: the file is fine and asks for something this engine does not have for this architecture.
  [[noreturn]] void unsupported(const std::string& what) const;

 private:
  // One truth for each layer. Empty: the key is absent or no array.
  std::vector<bool> each_layer(std::string_view name, int64_t layers) const;
  const gguf::Tensor* tensor(const std::string& name, int64_t columns, int64_t rows, bool required,
                             int64_t depth = 1) const;
  float element(const gguf::Tensor& tensor, int64_t index) const;
  // Of matrix `index` of `count` in tensor `name`: the number beside it in <base>.scale, where there is one each.
  // (<base>.input_scale is not read: it would round what the matrix is multiplied with, which is not rounded here.)
  float scale_of(const std::string& name, int64_t index, int64_t count) const;
  int64_t in_range(std::string_view name, uint64_t value, int64_t least, int64_t most) const;

  const gguf::File& file_;
  std::string prefix_;
  mutable std::unordered_set<std::string> read_;
};

}  // namespace halogen::model
