// The JSON files of a model folder, read with checks.
#pragma once
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "native/engine/checkpoint/json.h"

namespace halogen::checkpoint {

class Config {
 public:
  // Throws file.missing where it is `required` and not there; without that it is empty then.
  static Config read(const std::string& folder, const std::string& name, bool required);

  static Config of(json::Value value, std::string name);

  bool empty() const { return value_ == nullptr || value_->is_null(); }
  // An object within; empty where there is none.
  Config inner(const char* name) const;
  const json::Value* find(const char* name) const { return value_ != nullptr ? value_->find(name) : nullptr; }

  static constexpr uint64_t largest = uint64_t{1} << 31;

  // Absent: model.missing_key, or the fallback. Of another type or beyond `most`: model.bad_value.
  uint64_t whole(const char* name, uint64_t most = largest) const;
  uint64_t whole_or(const char* name, uint64_t fallback, uint64_t most = largest) const;
  double real(const char* name) const;
  double real_or(const char* name, double fallback) const;
  bool flag_or(const char* name, bool fallback) const;
  std::string text_or(const char* name, const std::string& fallback) const;
  // Empty where there is no list.
  std::vector<std::string> texts(const char* name) const;

 private:
  const json::Value* present(const char* name) const;
  std::optional<double> number(const char* name) const;
  [[noreturn]] void missing(const char* name) const;
  [[noreturn]] void wrong(const char* name, const char* expected) const;

  std::shared_ptr<const json::Value> root_;
  const json::Value* value_ = nullptr;
  std::string file_;
};

// chat_template.jinja, or the template of tokenizer_config.json; empty where there is neither.
std::string chat_template(const std::string& folder);

}  // namespace halogen::checkpoint
