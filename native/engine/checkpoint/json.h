// JSON as it stands in model folders: configurations, tokenizers, headers of tensor files.
#pragma once
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

namespace halogen::json {

class Value;
using Array = std::vector<Value>;
using Members = std::vector<std::pair<std::string, Value>>;

class Value {
 public:
  Value() = default;
  template <typename T>
  explicit Value(T value) : value_(std::move(value)) {}

  bool is_null() const { return std::holds_alternative<std::monostate>(value_); }
  const bool* boolean() const { return std::get_if<bool>(&value_); }
  const double* number() const { return std::get_if<double>(&value_); }
  const std::string* string() const { return std::get_if<std::string>(&value_); }
  const Array* array() const { return std::get_if<Array>(&value_); }
  const Members* object() const { return std::get_if<Members>(&value_); }
  // A member of an object; nullptr where there is none, and in anything but an object.
  const Value* find(std::string_view name) const;

 private:
  std::variant<std::monostate, bool, double, std::string, Array, Members> value_;
};

// Throws checkpoint.malformed with the place; `name` says what the text is. Nesting is limited to 64.
Value parse(std::string_view text, const std::string& name);

}  // namespace halogen::json
