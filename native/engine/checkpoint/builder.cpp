#include "native/engine/checkpoint/builder.h"

#include <cmath>

#include "native/engine/error.h"
#include "native/engine/gguf/checked.h"

namespace halogen::checkpoint {
namespace {

const gguf::Format* plain_format(const std::string& type) {
  if (type == "F32") return gguf::format_of(0);
  if (type == "F16") return gguf::format_of(1);
  if (type == "BF16") return gguf::format_of(30);
  return nullptr;
}

[[noreturn]] void unsupported(const Stored& stored, const std::string& name) {
  throw Error(code::model_unsupported_format,
              "This model is fine; Halogen does not read tensors of type " + stored.type + " (\"" + name + "\").",
              "Download this model in another format.", {{"tensor", name}, {"format", stored.type}});
}

float from_half(uint16_t half) {
  const int exponent = half >> 10 & 31;
  const float fraction = static_cast<float>(half & 1023), sign = (half & 0x8000) != 0 ? -1.0f : 1.0f;
  if (exponent == 31) return fraction != 0 ? NAN : sign * INFINITY;
  return sign * (exponent != 0 ? std::ldexp(1024 + fraction, exponent - 25) : std::ldexp(fraction, -24));
}

}  // namespace

std::vector<float> floats(const Stored& stored, const std::string& name) {
  if (plain_format(stored.type) == nullptr) unsupported(stored, name);
  std::vector<float> values(stored.elements);
  for (size_t i = 0; i < values.size(); ++i) {
    if (stored.type == "F32") {
      std::memcpy(&values[i], stored.data + 4 * i, 4);
      continue;
    }
    uint16_t word;
    std::memcpy(&word, stored.data + 2 * i, 2);
    const uint32_t bits = static_cast<uint32_t>(word) << 16;
    if (stored.type == "BF16")
      std::memcpy(&values[i], &bits, 4);
    else
      values[i] = from_half(word);
  }
  return values;
}

Builder::Builder(const std::string& folder) : owner_(std::make_shared<Owner>(folder)) {}

void Builder::add_key(const std::string& name, gguf::Value value, const void* data, size_t bytes) {
  const auto* from = static_cast<const uint8_t*>(data);
  value.data = owner_->memory.emplace_back(from, from + bytes).data();
  metadata_.add(owner_->texts.emplace_back(name), value);
}

void Builder::key(const std::string& name, uint64_t value) {
  gguf::Value made;
  made.type = gguf::Type::u64;
  add_key(name, made, &value, sizeof value);
}

void Builder::key(const std::string& name, double value) {
  gguf::Value made;
  made.type = gguf::Type::f64;
  add_key(name, made, &value, sizeof value);
}

void Builder::key(const std::string& name, const std::string& value) {
  gguf::Value made;
  made.type = gguf::Type::string;
  made.text = owner_->texts.emplace_back(value);
  metadata_.add(owner_->texts.emplace_back(name), made);
}

void Builder::key(const std::string& name, const std::vector<bool>& values) {
  gguf::Value made;
  made.type = gguf::Type::array;
  made.element = gguf::Type::boolean;
  made.count = values.size();
  const std::vector<uint8_t> bytes(values.begin(), values.end());
  add_key(name, made, bytes.data(), bytes.size());
}

void Builder::flag(const std::string& name, bool value) {
  gguf::Value made;
  made.type = gguf::Type::boolean;
  const uint8_t byte = value ? 1 : 0;
  add_key(name, made, &byte, 1);
}

const Stored& Builder::need(const std::string& name) const {
  const Stored* found = stored().find(name);
  if (found != nullptr) return *found;
  throw Error(code::model_missing_tensor, "The model lacks the tensor \"" + name + "\".",
              "Try another conversion of this model.", {{"tensor", name}});
}

void Builder::add(const std::string& name, const gguf::Format& format, std::vector<uint64_t> shape,
                  gguf::Tensor tensor) {
  Size elements = 1;
  for (const uint64_t each : shape) elements = multiply(elements, each);
  const bool whole = !shape.empty() && shape.size() <= 4 && elements && *elements > 0;
  if (!whole || shape[0] % format.elements != 0) {
    throw Error(code::model_tensor_shape, "Tensor \"" + name + "\" has a shape that no tensor can have.",
                "Try another conversion of this model.", {{"tensor", name}});
  }
  tensor.name = owner_->texts.emplace_back(name);
  tensor.format = &format;
  tensor.type_id = format.id;
  tensor.dimensions = static_cast<uint32_t>(shape.size());
  std::copy(shape.begin(), shape.end(), tensor.shape.begin());
  tensor.elements = *elements;
  tensor.bytes = *elements / format.elements * format.bytes;
  tensors_.push_back(tensor);
}

void Builder::tensor(const std::string& name, const std::string& from, std::vector<uint64_t> shape) {
  const Stored& stored = need(from);
  const gguf::Format* format = plain_format(stored.type);
  if (format == nullptr) unsupported(stored, from);
  if (shape.empty()) shape.assign(stored.shape.rbegin(), stored.shape.rend());
  Size elements = 1;
  for (const uint64_t each : shape) elements = multiply(elements, each);
  if (elements != Size(stored.elements)) shape.clear();  // refused below
  gguf::Tensor tensor;
  tensor.data = stored.data;
  tensor.offset = stored.offset;
  tensor.mapping = stored.mapping;
  add(name, *format, std::move(shape), tensor);
}

void Builder::vector(const std::string& name, const std::string& from, float (*make)(float)) {
  std::vector<float> values = floats(need(from), from);
  for (float& value : values) value = make(value);
  const auto* bytes = reinterpret_cast<const uint8_t*>(values.data());
  gguf::Tensor tensor;
  tensor.data = owner_->memory.emplace_back(bytes, bytes + values.size() * sizeof(float)).data();
  add(name, *gguf::format_of(0), {values.size()}, tensor);
}

const gguf::Rotation* Builder::rotation(const std::string& base, uint64_t columns) {
  return &owner_->rotations.emplace_back(paro_rotation(stored(), base, columns));
}

void Builder::matrix(const std::string& name, const std::string& from) {
  if (stored().find(from + ".qweight") == nullptr) return tensor(name, from + ".weight");
  uint64_t rows = 0, columns = 0;
  const ParoRows::Matrix parts = paro_matrix(stored(), from, rows, columns);
  gguf::Tensor tensor;
  tensor.rows = &owner_->rows.emplace_back(std::vector<ParoRows::Matrix>{parts}, rows, columns);
  tensor.rotation = rotation(from + ".", columns);
  add(name, gguf::awq4, {columns, rows}, tensor);
}

void Builder::experts(const std::string& name, const std::vector<std::string>& from, const std::string& rotation_base) {
  std::vector<ParoRows::Matrix> parts;
  uint64_t rows = 0, columns = 0;
  for (const std::string& each : from) {
    uint64_t own_rows = 0, own_columns = 0;
    parts.push_back(paro_matrix(stored(), each, own_rows, own_columns));
    if (parts.size() > 1 && (own_rows != rows || own_columns != columns)) {
      throw Error(code::model_tensor_shape,
                  "Tensor \"" + each + ".qweight\" has another shape than the experts before.",
                  "Try another conversion of this model.", {{"tensor", each + ".qweight"}});
    }
    rows = own_rows;
    columns = own_columns;
  }
  gguf::Tensor tensor;
  tensor.rows = &owner_->rows.emplace_back(std::move(parts), rows, columns);
  tensor.rotation = rotation(rotation_base, columns);
  add(name, gguf::awq4, {columns, rows, from.size()}, tensor);
}

gguf::File Builder::finish(const std::string& path) {
  const uint64_t bytes = stored().bytes();
  return gguf::File(path, bytes, std::move(metadata_), std::move(tensors_), std::move(owner_));
}

}  // namespace halogen::checkpoint
