#include "native/engine/gguf/metadata.h"

#include "native/engine/error.h"

namespace halogen::gguf {
namespace {

[[noreturn]] void wrong_type(std::string_view key, const char* expected, const Value& value) {
  std::string found = type_name(value.type);
  if (value.type == Type::array) found = std::string("an array of ") + type_name(value.element);
  throw Error(code::gguf_wrong_type,
              "Key \"" + std::string(key) + "\" should be " + expected + " and is " + found + ".",
              "The file was converted wrongly or is damaged; try another conversion of this model.",
              {{"key", std::string(key)}, {"expected", expected}, {"found", found}});
}

template <typename T>
T load(const uint8_t* at) {
  T value;
  std::memcpy(&value, at, sizeof value);
  return value;
}

template <typename Signed>
std::optional<uint64_t> not_negative(const uint8_t* at) {
  const Signed value = load<Signed>(at);
  return value < 0 ? std::nullopt : std::optional<uint64_t>(static_cast<uint64_t>(value));
}

std::optional<uint64_t> whole_of(Type type, const uint8_t* at) {
  switch (type) {
    case Type::u8:
      return load<uint8_t>(at);
    case Type::u16:
      return load<uint16_t>(at);
    case Type::u32:
      return load<uint32_t>(at);
    case Type::u64:
      return load<uint64_t>(at);
    case Type::i8:
      return not_negative<int8_t>(at);
    case Type::i16:
      return not_negative<int16_t>(at);
    case Type::i32:
      return not_negative<int32_t>(at);
    case Type::i64:
      return not_negative<int64_t>(at);
    default:
      return std::nullopt;
  }
}

}  // namespace

const char* type_name(Type type) {
  static constexpr const char* names[] = {"u8",   "i8",     "u16",   "i16", "u32", "i32", "f32",
                                          "bool", "string", "array", "u64", "i64", "f64"};
  return names[static_cast<uint32_t>(type)];
}

uint32_t type_bytes(Type type) {
  static constexpr uint32_t bytes[] = {1, 1, 2, 2, 4, 4, 4, 1, 0, 0, 8, 8, 8};
  return bytes[static_cast<uint32_t>(type)];
}

std::optional<uint64_t> as_whole(const Value& value) {
  return whole_of(value.type, value.data);
}

bool Metadata::add(std::string_view key, const Value& value) {
  if (!index_.emplace(key, values_.size()).second) return false;
  values_.emplace_back(key, value);
  return true;
}

const Value* Metadata::find(std::string_view key) const {
  const auto found = index_.find(key);
  return found == index_.end() ? nullptr : &values_[found->second].second;
}

std::optional<uint64_t> Metadata::whole(std::string_view key) const {
  const Value* value = find(key);
  if (value == nullptr) return std::nullopt;
  const std::optional<uint64_t> number = whole_of(value->type, value->data);
  if (!number) wrong_type(key, "a whole number >= 0", *value);
  return number;
}

std::optional<uint64_t> Metadata::whole_at(std::string_view key, uint64_t index) const {
  const Value* value = find(key);
  if (value == nullptr || value->type != Type::array) return whole(key);
  const uint32_t bytes = type_bytes(value->element);
  const std::optional<uint64_t> number =
      index < value->count && bytes != 0 ? whole_of(value->element, value->data + index * bytes) : std::nullopt;
  if (!number) wrong_type(key, "whole numbers >= 0, one per layer", *value);
  return number;
}

std::optional<double> Metadata::real(std::string_view key) const {
  const Value* value = find(key);
  if (value == nullptr) return std::nullopt;
  if (value->type == Type::f32) return load<float>(value->data);
  if (value->type == Type::f64) return load<double>(value->data);
  const std::optional<uint64_t> number = whole_of(value->type, value->data);
  if (!number) wrong_type(key, "a number", *value);
  return static_cast<double>(*number);
}

std::optional<bool> Metadata::boolean(std::string_view key) const {
  const Value* value = find(key);
  if (value == nullptr) return std::nullopt;
  if (value->type != Type::boolean) wrong_type(key, "a boolean", *value);
  return value->data[0] != 0;
}

std::optional<std::string_view> Metadata::string(std::string_view key) const {
  const Value* value = find(key);
  if (value == nullptr) return std::nullopt;
  if (value->type != Type::string) wrong_type(key, "a string", *value);
  return value->text;
}

const Value* Metadata::array(std::string_view key, Type element) const {
  const Value* value = find(key);
  if (value == nullptr) return nullptr;
  if (value->type != Type::array || value->element != element) {
    const std::string expected = std::string("an array of ") + type_name(element);
    wrong_type(key, expected.c_str(), *value);
  }
  return value;
}

}  // namespace halogen::gguf
