// Every fault the engine reports: a code of app/error.ts, words, a hint what to do, and the numbers involved.
#pragma once
#include <map>
#include <stdexcept>
#include <string>
#include <type_traits>
#include <utility>
#include <variant>

namespace halogen {

// A JSON scalar: null, boolean, number or string. Integers above 2^53 lose their low bits, as they would in JavaScript.
class Scalar {
 public:
  Scalar() = default;
  Scalar(bool value) : value_(value) {}
  Scalar(std::string value) : value_(std::move(value)) {}
  Scalar(const char* value) : value_(std::string(value)) {}
  template <typename Number>
    requires(std::is_arithmetic_v<Number> && !std::is_same_v<Number, bool>)
  Scalar(Number value) : value_(static_cast<double>(value)) {}

  bool is_null() const { return std::holds_alternative<std::monostate>(value_); }
  const bool* boolean() const { return std::get_if<bool>(&value_); }
  const double* number() const { return std::get_if<double>(&value_); }
  const std::string* string() const { return std::get_if<std::string>(&value_); }

 private:
  std::variant<std::monostate, bool, double, std::string> value_;
};

using Detail = std::map<std::string, Scalar>;

// Codes the engine uses; each stands in app/error.ts (tested).
namespace code {
inline constexpr const char* file_missing = "file.missing";
inline constexpr const char* file_unreadable = "file.unreadable";
inline constexpr const char* gguf_empty = "gguf.empty";
inline constexpr const char* gguf_not_gguf = "gguf.not_gguf";
inline constexpr const char* gguf_byte_order = "gguf.byte_order";
inline constexpr const char* gguf_version = "gguf.version";
inline constexpr const char* gguf_truncated = "gguf.truncated";
inline constexpr const char* gguf_malformed = "gguf.malformed";
inline constexpr const char* gguf_wrong_type = "gguf.wrong_type";
inline constexpr const char* gguf_limit = "gguf.limit";
inline constexpr const char* checkpoint_malformed = "checkpoint.malformed";
inline constexpr const char* checkpoint_truncated = "checkpoint.truncated";
inline constexpr const char* model_unknown_architecture = "model.unknown_architecture";
inline constexpr const char* model_unsupported_format = "model.unsupported_format";
inline constexpr const char* model_missing_tensor = "model.missing_tensor";
inline constexpr const char* model_tensor_shape = "model.tensor_shape";
inline constexpr const char* model_missing_key = "model.missing_key";
inline constexpr const char* model_bad_value = "model.bad_value";
inline constexpr const char* model_not_finite = "model.not_finite";
inline constexpr const char* model_not_loaded = "model.not_loaded";
inline constexpr const char* model_too_large = "model.too_large";
inline constexpr const char* tokenizer_unsupported = "tokenizer.unsupported";
inline constexpr const char* tokenizer_malformed = "tokenizer.malformed";
inline constexpr const char* context_exceeded = "context.exceeded";
inline constexpr const char* engine_unavailable = "engine.unavailable";
inline constexpr const char* engine_kernel_missing = "engine.kernel_missing";
inline constexpr const char* request_cancelled = "request.cancelled";
inline constexpr const char* request_invalid = "request.invalid";
inline constexpr const char* memory_exhausted = "memory.exhausted";
inline constexpr const char* internal = "internal";
}  // namespace code

class Error : public std::runtime_error {
 public:
  Error(std::string code, const std::string& message, std::string hint = "", Detail detail = {})
      : std::runtime_error(message), code_(std::move(code)), hint_(std::move(hint)), detail_(std::move(detail)) {}

  const std::string& code() const { return code_; }
  std::string message() const { return what(); }
  const std::string& hint() const { return hint_; }
  const Detail& detail() const { return detail_; }

 private:
  std::string code_;
  std::string hint_;
  Detail detail_;
};

}  // namespace halogen
