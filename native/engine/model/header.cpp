#include "native/engine/model/header.h"

#include <cmath>

#include "native/engine/error.h"

namespace halogen::model {
namespace {

constexpr const char* hint_conversion = "Try another conversion of this model.";

[[noreturn]] void missing_key(const std::string& key) {
  throw Error(code::model_missing_key, "The file lacks the key \"" + key + "\".", hint_conversion, {{"key", key}});
}

std::string number(double value) {
  std::string text = std::to_string(value);
  while (text.back() == '0') text.pop_back();
  if (text.back() == '.') text.pop_back();
  return text;
}

// Of the scale beside <base>.weight.
std::string scale_name(std::string_view weight) {
  return std::string(weight.substr(0, weight.rfind('.'))) + ".scale";
}

template <typename T>
[[noreturn]] void out_of_range(const std::string& key, T value, T least, T most) {
  throw Error(code::model_bad_value,
              "Key \"" + key + "\" is " + number(static_cast<double>(value)) + "; it should be between " +
                  number(static_cast<double>(least)) + " and " + number(static_cast<double>(most)) + ".",
              hint_conversion, {{"key", key}, {"value", value}, {"least", least}, {"most", most}});
}

}  // namespace

int64_t Header::in_range(std::string_view name, uint64_t value, int64_t least, int64_t most) const {
  if (value > static_cast<uint64_t>(most)) {
    out_of_range<double>(key(name), static_cast<double>(value), static_cast<double>(least), static_cast<double>(most));
  }
  if (static_cast<int64_t>(value) < least) out_of_range<int64_t>(key(name), static_cast<int64_t>(value), least, most);
  return static_cast<int64_t>(value);
}

int64_t Header::whole(std::string_view name, int64_t least, int64_t most) const {
  const std::optional<uint64_t> value = file_.whole(key(name));
  if (!value) missing_key(key(name));
  return in_range(name, *value, least, most);
}

int64_t Header::whole_or(std::string_view name, int64_t fallback, int64_t least, int64_t most) const {
  const std::optional<uint64_t> value = file_.whole(key(name));
  return value ? in_range(name, *value, least, most) : fallback;
}

int64_t Header::whole_at(std::string_view name, int64_t layer, int64_t fallback, int64_t least, int64_t most) const {
  const std::optional<uint64_t> value = file_.whole_at(key(name), static_cast<uint64_t>(layer));
  if (!value && fallback < 0) missing_key(key(name));
  return value ? in_range(name, *value, least, most) : fallback;
}

double Header::real(std::string_view name, double least, double most) const {
  const std::optional<double> value = file_.real(key(name));
  if (!value) missing_key(key(name));
  if (!(*value >= least && *value <= most)) out_of_range<double>(key(name), *value, least, most);
  return *value;
}

double Header::real_or(std::string_view name, double fallback, double least, double most) const {
  return file_.find(key(name)) == nullptr ? fallback : real(name, least, most);
}

std::vector<bool> Header::each_layer(std::string_view name, int64_t layers) const {
  const gguf::Value* value = file_.find(key(name));
  std::vector<bool> each;
  if (value == nullptr || value->type != gguf::Type::array) return each;
  if (value->count < static_cast<uint64_t>(layers)) {
    out_of_range<int64_t>(key(name) + "[]", static_cast<int64_t>(value->count), layers, 1000);
  }
  const bool truths = value->element == gguf::Type::boolean;
  for (int64_t i = 0; i < layers; ++i) {
    // Some files hold numbers for them.
    each.push_back(truths ? value->data[i] != 0 : file_.whole_at(key(name), static_cast<uint64_t>(i)).value() != 0);
  }
  return each;
}

std::vector<bool> Header::sliding_layers(int64_t layers, int64_t period) const {
  constexpr std::string_view name = "attention.sliding_window_pattern";
  if (std::vector<bool> slides = each_layer(name, layers); !slides.empty()) return slides;
  period = whole_or(name, period, 1, 1000);
  std::vector<bool> slides;
  for (int64_t i = 0; i < layers; ++i) slides.push_back(i % period < period - 1);
  return slides;
}

std::vector<bool> Header::recurrent_layers(int64_t layers) const {
  if (std::vector<bool> recurrent = each_layer("attention.recurrent_layers", layers); !recurrent.empty())
    return recurrent;
  const int64_t interval = whole_or("full_attention_interval", 4, 1, 1000);
  std::vector<bool> recurrent;
  for (int64_t i = 0; i < layers; ++i) recurrent.push_back((i + 1) % interval != 0);
  return recurrent;
}

bool Header::boolean_or(std::string_view name, bool fallback) const {
  return file_.boolean(key(name)).value_or(fallback);
}

std::string Header::string_or(std::string_view name, std::string_view fallback) const {
  return std::string(file_.string(key(name)).value_or(fallback));
}

const gguf::Tensor* Header::tensor(const std::string& name, int64_t columns, int64_t rows, bool required,
                                   int64_t depth) const {
  const gguf::Tensor* found = file_.tensor(name);
  read_.insert(name);
  if (found == nullptr) {
    if (!required) return nullptr;
    throw Error(code::model_missing_tensor, "The file lacks the tensor \"" + name + "\".", hint_conversion,
                {{"tensor", name}});
  }
  const bool fits = found->shape[0] == static_cast<uint64_t>(columns) &&
                    found->shape[1] == static_cast<uint64_t>(rows) && found->shape[2] == static_cast<uint64_t>(depth) &&
                    found->shape[3] == 1;
  if (!fits) {
    const auto text = [](uint64_t a, uint64_t b) { return std::to_string(a) + " x " + std::to_string(b); };
    const auto deep = [](uint64_t c) { return c == 1 ? std::string() : " x " + std::to_string(c); };
    const std::string expected =
        text(static_cast<uint64_t>(columns), static_cast<uint64_t>(rows)) + deep(static_cast<uint64_t>(depth));
    const std::string actual = text(found->shape[0], found->shape[1]) + deep(found->shape[2]) + deep(found->shape[3]);
    throw Error(code::model_tensor_shape,
                "Tensor \"" + name + "\" is " + actual + "; its metadata asks for " + expected + ".", hint_conversion,
                {{"tensor", name}, {"expected", expected}, {"actual", actual}});
  }
  return found;
}

float Header::scale_of(const std::string& name, int64_t index, int64_t count) const {
  const std::string beside = scale_name(name);
  const gguf::Tensor* found = file_.tensor(beside);
  // Of another size it has another meaning; unless somebody knows it, require_all_read refuses it.
  if (found == nullptr || found->elements != static_cast<uint64_t>(count)) return 1;
  read_.insert(beside);
  return element(*found, index);
}

float Header::factor(const std::string& name) const {
  const gguf::Tensor* found = vector_or_null(name, 1);
  return found != nullptr ? element(*found, 0) : 1;
}

float Header::element(const gguf::Tensor& tensor, int64_t index) const {
  if (tensor.format == nullptr || std::string_view(tensor.format->name) != "F32") {
    unsupported("a scale that is not F32 (\"" + std::string(tensor.name) + "\")");
  }
  float value = 0;
  std::memcpy(&value, file_.tensor_data(tensor) + static_cast<uint64_t>(index) * sizeof value, sizeof value);
  return value;
}

Matrix Header::matrix(const std::string& name, int64_t columns, int64_t rows) const {
  return {tensor(name, columns, rows, true), rows, columns, nullptr, 0, 0, scale_of(name, 0, 1)};
}

Matrix Header::slice(const std::string& name, int64_t columns, int64_t first, int64_t rows, int64_t total) const {
  return {tensor(name, columns, total, true), rows, columns, nullptr, first, 0, scale_of(name, 0, 1)};
}

std::vector<Matrix> Header::stack(const std::string& base, int64_t columns, int64_t rows, int64_t count) const {
  const gguf::Tensor* weight = tensor(base + ".weight", columns, rows, true, count);
  const gguf::Tensor* bias = tensor(base + ".bias", rows, count, false);
  std::vector<Matrix> matrices;
  for (int64_t i = 0; i < count; ++i) {
    matrices.push_back({weight, rows, columns, bias, i * rows, i * rows, scale_of(base + ".weight", i, count)});
  }
  return matrices;
}

Matrix Header::alternate(Matrix whole, int64_t groups, int64_t first, int64_t together, int64_t stride) {
  whole.rows = groups * together;
  whole.first_row += first;
  whole.together = together;
  whole.stride = stride;
  return whole;
}

Matrix Header::matrix_with_bias(const std::string& base, int64_t columns, int64_t rows) const {
  Matrix result = matrix(base + ".weight", columns, rows);
  result.bias = vector_or_null(base + ".bias", rows);
  return result;
}

Matrix Header::slice_with_bias(const std::string& base, int64_t columns, int64_t first, int64_t rows,
                               int64_t total) const {
  Matrix result = slice(base + ".weight", columns, first, rows, total);
  result.bias = vector_or_null(base + ".bias", total);
  result.first_bias = first;
  return result;
}

const gguf::Tensor* Header::vector(const std::string& name, int64_t count) const {
  return tensor(name, count, 1, true);
}

const gguf::Tensor* Header::vector_or_null(const std::string& name, int64_t count) const {
  return tensor(name, count, 1, false);
}

const gguf::Tensor* Header::table(const std::string& name, int64_t columns, int64_t rows) const {
  return tensor(name, columns, rows, true);
}

void Header::ignore(const std::string& name) const {
  read_.insert(name);
  read_.insert(scale_name(name));
}

void Header::require_all_read(int64_t layers) const {
  for (const gguf::Tensor& tensor : file_.tensors()) {
    const std::string name(tensor.name);
    const bool scale = name.ends_with(".scale");
    if (read_.contains(name) || !(scale || name.ends_with(".weight") || name.ends_with(".bias"))) continue;
    if (name.starts_with("blk.")) {
      if (std::strtoll(name.c_str() + 4, nullptr, 10) >= layers) continue;
    } else {
      // A head that is the embedding has no scale of its own.
      const bool of_read = read_.contains(name.substr(0, name.rfind('.')) + ".weight") || name == "output.scale";
      if (!scale || !of_read) continue;
    }
    unsupported("the tensor \"" + name + "\"");
  }
}

void Header::unsupported(const std::string& what) const {
  throw Error(code::model_bad_value,
              "This file is fine; Halogen does not know " + what + " for \"" + prefix_ + "\" models yet.",
              "A newer Halogen may.", {{"architecture", prefix_}, {"feature", what}});
}

}  // namespace halogen::model
