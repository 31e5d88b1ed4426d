#include "native/engine/model/inspect.h"

#include <algorithm>

#include "native/engine/model/architecture.h"

namespace halogen::model {
namespace {

template <typename T>
T load(const uint8_t* at) {
  T value;
  std::memcpy(&value, at, sizeof value);
  return value;
}

Scalar scalar_of(const gguf::Value& value) {
  using gguf::Type;
  switch (value.type) {
    case Type::u8:
      return load<uint8_t>(value.data);
    case Type::i8:
      return load<int8_t>(value.data);
    case Type::u16:
      return load<uint16_t>(value.data);
    case Type::i16:
      return load<int16_t>(value.data);
    case Type::u32:
      return load<uint32_t>(value.data);
    case Type::i32:
      return load<int32_t>(value.data);
    case Type::u64:
      return load<uint64_t>(value.data);
    case Type::i64:
      return load<int64_t>(value.data);
    case Type::f32:
      return load<float>(value.data);
    case Type::f64:
      return load<double>(value.data);
    case Type::boolean:
      return value.data[0] != 0;
    case Type::string:
      return std::string(value.text);
    case Type::array:
      return "[" + std::to_string(value.count) + "]";
  }
  return {};
}

// An inspection describes what can be read; a key of another type than usual is for describe() to refuse.
std::string text(const gguf::File& file, const std::string& key) {
  const gguf::Value* value = file.find(key);
  return value != nullptr && value->type == gguf::Type::string ? std::string(value->text) : std::string();
}

uint64_t whole(const gguf::File& file, const std::string& key) {
  const gguf::Value* value = file.find(key);
  if (value == nullptr || value->type == gguf::Type::array) return 0;
  const Scalar scalar = scalar_of(*value);
  const double* number = scalar.number();
  return number != nullptr && *number >= 0 && *number < 1e18 ? static_cast<uint64_t>(*number) : 0;
}

}  // namespace

ModelInspection inspect(const gguf::File& file) {
  ModelInspection result;
  result.path = file.path();
  result.bytes = file.size();
  result.architecture = text(file, "general.architecture");
  result.name = text(file, "general.name");
  result.size_label = text(file, "general.size_label");
  for (const gguf::Tensor& tensor : file.tensors()) {
    result.parameters += tensor.elements;
    const std::string format =
        tensor.format != nullptr ? tensor.format->name : "type " + std::to_string(tensor.type_id);
    result.formats[format] += tensor.bytes;
  }
  const auto largest = std::ranges::max_element(result.formats, {}, [](const auto& entry) { return entry.second; });
  if (largest != result.formats.end()) result.format = largest->first;
  const std::string prefix = result.architecture + ".";
  result.context_length = whole(file, prefix + "context_length");
  result.embedding_length = whole(file, prefix + "embedding_length");
  result.block_count = whole(file, prefix + "block_count");
  result.head_count = whole(file, prefix + "attention.head_count");
  const gguf::Value* tokens = file.find("tokenizer.ggml.tokens");
  result.vocabulary_size =
      tokens != nullptr && tokens->type == gguf::Type::array ? tokens->count : whole(file, prefix + "vocab_size");
  const std::string chat_template = text(file, "tokenizer.chat_template");
  if (!chat_template.empty()) result.chat_template = chat_template;
  for (const auto& [key, value] : file.values()) result.metadata.emplace_back(std::string(key), scalar_of(value));
  return result;
}

}  // namespace halogen::model
