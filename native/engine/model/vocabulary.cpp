#include "native/engine/error.h"
#include "native/engine/model/inspect.h"

namespace halogen::model {
namespace {

constexpr std::string_view prefix = "tokenizer.ggml.";

PackedStrings packed(const gguf::Value* array, const std::string& key) {
  PackedStrings result;
  if (array == nullptr) return result;
  uint64_t bytes = 0;
  gguf::each_string(*array, [&](std::string_view text) { bytes += text.size(); });
  if (bytes > UINT32_MAX) {
    throw Error(code::gguf_limit, "Key \"" + key + "\" holds " + std::to_string(bytes) + " bytes of text.",
                "The limit is 4 GiB.", {{"key", key}, {"bytes", bytes}});
  }
  result.bytes.reserve(bytes);
  result.offsets.reserve(array->count + 1);
  gguf::each_string(*array, [&](std::string_view text) {
    result.bytes.insert(result.bytes.end(), text.begin(), text.end());
    result.offsets.push_back(static_cast<uint32_t>(result.bytes.size()));
  });
  return result;
}

template <typename T>
std::vector<T> numbers(const gguf::Value* array) {
  std::vector<T> result(array != nullptr ? array->count : 0);
  if (!result.empty()) std::memcpy(result.data(), array->data, result.size() * sizeof(T));
  return result;
}

void check_count(const char* what, size_t count, size_t tokens) {
  if (count == 0 || count == tokens) return;
  throw Error(
      code::tokenizer_malformed,
      "The vocabulary has " + std::to_string(tokens) + " tokens but " + std::to_string(count) + " " + what + ".",
      "Try another conversion of this model.", {{"tokens", tokens}, {what, count}});
}

}  // namespace

Vocabulary read_vocabulary(const gguf::File& file) {
  using gguf::Type;
  Vocabulary result;
  result.model = file.string("tokenizer.ggml.model").value_or("none");
  result.pre = file.string("tokenizer.ggml.pre").value_or("");
  const gguf::Value* tokens = file.array("tokenizer.ggml.tokens", Type::string);
  if (tokens == nullptr || tokens->count == 0) {
    throw Error(code::tokenizer_malformed, "The file holds no vocabulary.",
                "It may be only a part of a model, such as an image projector.", {{"key", "tokenizer.ggml.tokens"}});
  }
  result.tokens = packed(tokens, "tokenizer.ggml.tokens");
  result.merges = packed(file.array("tokenizer.ggml.merges", Type::string), "tokenizer.ggml.merges");
  result.scores = numbers<float>(file.array("tokenizer.ggml.scores", Type::f32));
  // Some converters wrote the types unsigned; the values are the same.
  const gguf::Value* types = file.find("tokenizer.ggml.token_type");
  const bool is_unsigned = types != nullptr && types->type == Type::array && types->element == Type::u32;
  result.types = numbers<int32_t>(is_unsigned ? types : file.array("tokenizer.ggml.token_type", Type::i32));
  result.suppressed = numbers<int32_t>(file.array("tokenizer.ggml.suppress_tokens", Type::i32));
  // An id past the end names nothing, as with the special ones.
  std::erase_if(result.suppressed, [&](int32_t id) { return id < 0 || static_cast<uint64_t>(id) >= tokens->count; });
  check_count("types", result.types.size(), tokens->count);
  check_count("scores", result.scores.size(), tokens->count);

  constexpr std::string_view id_suffix = "_token_id";
  for (const auto& [key, value] : file.values()) {
    if (!key.starts_with(prefix)) continue;
    const std::string name(key.substr(prefix.size()));
    if (value.type == Type::boolean) result.flags[name] = value.data[0] != 0;
    if (!name.ends_with(id_suffix)) continue;
    // Converters write -1 or an id past the end for "none".
    const std::optional<uint64_t> id = gguf::as_whole(value);
    if (!id || *id >= tokens->count) continue;
    result.special[name.substr(0, name.size() - id_suffix.size())] = static_cast<int64_t>(*id);
  }
  return result;
}

}  // namespace halogen::model
