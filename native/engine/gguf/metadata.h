// The keys of a model file. Values and names point into what the file's owner keeps: a mapping, or memory of its own.
#pragma once
#include <cstdint>
#include <cstring>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

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

// A whole number >= 0 of any integer type; empty for anything else.
std::optional<uint64_t> as_whole(const Value& value);

class Metadata {
 public:
  const std::vector<std::pair<std::string_view, Value>>& values() const { return values_; }
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

  // False: the key is there already, and nothing was added.
  bool add(std::string_view key, const Value& value);

 private:
  std::vector<std::pair<std::string_view, Value>> values_;
  std::unordered_map<std::string_view, size_t> index_;
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
