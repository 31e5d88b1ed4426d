// A GGUF file: its keys and tensors, checked. Values and names point into the mapping and live as long as the File.
#pragma once
#include <array>
#include <cstring>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "native/engine/gguf/format.h"
#include "native/engine/gguf/mapping.h"

namespace halogen::gguf {

enum class Type : uint32_t { u8, i8, u16, i16, u32, i32, f32, boolean, string, array, u64, i64, f64 };

const char* type_name(Type type);
// Bytes of a fixed-size scalar; 0 for string and array.
uint32_t type_bytes(Type type);

struct Value {
  Type type = Type::u8;
  Type element = Type::u8;        // of an array
  uint64_t count = 0;             // of an array
  const uint8_t* data = nullptr;  // scalar, array elements (strings: u64 length then bytes), unaligned
  std::string_view text;          // of a string
};

struct Tensor {
  std::string_view name;
  const Format* format = nullptr;
  uint32_t type_id = 0;
  uint32_t dimensions = 1;
  std::array<uint64_t, 4> shape{1, 1, 1, 1};  // shape[0] is contiguous
  uint64_t elements = 0;
  uint64_t offset = 0;  // from the start of the file
  uint64_t bytes = 0;
};

// A whole number >= 0 of any integer type; empty for anything else.
std::optional<uint64_t> as_whole(const Value& value);

class File {
 public:
  // Reads and checks the header. Throws file.* and gguf.* errors with the numbers involved.
  explicit File(const std::string& path);

  const std::string& path() const { return path_; }
  uint64_t size() const { return mapping_->size(); }
  uint32_t version() const { return version_; }
  const Mapping& mapping() const { return *mapping_; }
  const std::vector<std::pair<std::string_view, Value>>& values() const { return values_; }
  const std::vector<Tensor>& tensors() const { return tensors_; }
  const Tensor* tensor(std::string_view name) const;
  const uint8_t* tensor_data(const Tensor& tensor) const { return mapping_->data() + tensor.offset; }
  // Where the last tensor ends; more bytes than that may follow in a file with something appended.
  uint64_t data_end() const { return data_end_; }

  const Value* find(std::string_view key) const;
  // The typed getters: an absent key is nullptr or the fallback; a present one of another type throws gguf.wrong_type.
  // Integers of every width count as numbers where they fit; a negative one is gguf.wrong_type for `whole`.
  std::optional<uint64_t> whole(std::string_view key) const;
  std::optional<double> real(std::string_view key) const;
  std::optional<bool> boolean(std::string_view key) const;
  std::optional<std::string_view> string(std::string_view key) const;
  const Value* array(std::string_view key, Type element) const;
  // As a whole number, element i of an integer array or the scalar itself (per-layer keys may be either).
  std::optional<uint64_t> whole_at(std::string_view key, uint64_t index) const;

 private:
  friend class Parser;
  std::string path_;
  std::unique_ptr<Mapping> mapping_;
  uint32_t version_ = 0;
  uint64_t data_end_ = 0;
  std::vector<std::pair<std::string_view, Value>> values_;
  std::unordered_map<std::string_view, size_t> value_index_;
  std::vector<Tensor> tensors_;
  std::unordered_map<std::string_view, size_t> tensor_index_;
};

// Calls visit(std::string_view) for each element of an array of strings.
template <typename Visit>
void each_string(const Value& array, Visit&& visit) {
  const uint8_t* at = array.data;
  for (uint64_t i = 0; i < array.count; ++i) {
    uint64_t length = 0;
    std::memcpy(&length, at, sizeof length);
    visit(std::string_view(reinterpret_cast<const char*>(at + 8), length));
    at += 8 + length;
  }
}

}  // namespace halogen::gguf
