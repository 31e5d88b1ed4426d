#include "native/engine/checkpoint/config.h"

#include "native/engine/checkpoint/safetensors.h"
#include "native/engine/error.h"

namespace halogen::checkpoint {
namespace {

constexpr uint64_t longest_config = 64'000'000;
constexpr const char* hint = "Download it again, or try another conversion of this model.";

}  // namespace

Config Config::read(const std::string& folder, const std::string& name, bool required) {
  const std::string text = read_text(folder + "/" + name, longest_config);
  if (text.empty() && required) {
    throw Error(code::file_missing, "The model folder has no " + name + ".", "Download the whole folder.",
                {{"path", folder + "/" + name}});
  }
  if (!text.empty()) return of(json::parse(text, name), name);
  Config config;
  config.file_ = name;
  return config;
}

Config Config::of(json::Value value, std::string name) {
  Config config;
  config.file_ = std::move(name);
  config.root_ = std::make_shared<const json::Value>(std::move(value));
  config.value_ = config.root_.get();
  return config;
}

Config Config::inner(const char* name) const {
  Config config = *this;
  config.value_ = find(name);
  return config;
}

const json::Value* Config::present(const char* name) const {
  const json::Value* value = find(name);
  return value == nullptr || value->is_null() ? nullptr : value;
}

std::optional<double> Config::number(const char* name) const {
  const json::Value* value = present(name);
  if (value == nullptr) return std::nullopt;
  if (value->number() == nullptr) wrong(name, "a number");
  return *value->number();
}

void Config::missing(const char* name) const {
  throw Error(code::model_missing_key, file_ + " lacks \"" + name + "\".", hint, {{"file", file_}, {"key", name}});
}

void Config::wrong(const char* name, const char* expected) const {
  throw Error(code::model_bad_value, "\"" + std::string(name) + "\" in " + file_ + " should be " + expected + ".", hint,
              {{"file", file_}, {"key", name}});
}

uint64_t Config::whole(const char* name, uint64_t most) const {
  if (present(name) == nullptr) missing(name);
  return whole_or(name, 0, most);
}

uint64_t Config::whole_or(const char* name, uint64_t fallback, uint64_t most) const {
  const std::optional<double> value = number(name);
  if (!value) return fallback;
  if (!(*value >= 0 && *value <= static_cast<double>(most)) ||
      *value != static_cast<double>(static_cast<uint64_t>(*value))) {
    wrong(name, ("a whole number from 0 to " + std::to_string(most)).c_str());
  }
  return static_cast<uint64_t>(*value);
}

double Config::real(const char* name) const {
  if (present(name) == nullptr) missing(name);
  return *number(name);
}

double Config::real_or(const char* name, double fallback) const {
  return number(name).value_or(fallback);
}

bool Config::flag_or(const char* name, bool fallback) const {
  const json::Value* value = present(name);
  if (value == nullptr) return fallback;
  if (value->boolean() == nullptr) wrong(name, "true or false");
  return *value->boolean();
}

std::string Config::text_or(const char* name, const std::string& fallback) const {
  const json::Value* value = present(name);
  if (value == nullptr) return fallback;
  if (value->string() == nullptr) wrong(name, "a text");
  return *value->string();
}

std::vector<std::string> Config::texts(const char* name) const {
  std::vector<std::string> result;
  const json::Value* value = present(name);
  if (value == nullptr) return result;
  if (value->array() == nullptr) wrong(name, "a list");
  for (const json::Value& each : *value->array()) {
    if (each.string() == nullptr) wrong(name, "a list of texts");
    result.push_back(*each.string());
  }
  return result;
}

std::string chat_template(const std::string& folder) {
  if (std::string text = read_text(folder + "/chat_template.jinja", longest_config); !text.empty()) return text;
  const Config config = Config::read(folder, "tokenizer_config.json", false);
  const json::Value* value = config.find("chat_template");
  if (value == nullptr) return {};
  if (value->string() != nullptr) return *value->string();
  // Several by name: the one for plain chats.
  if (value->array() == nullptr) return {};
  for (const json::Value& each : *value->array()) {
    const json::Value *name = each.find("name"), *text = each.find("template");
    if (name != nullptr && name->string() != nullptr && *name->string() == "default" && text != nullptr &&
        text->string() != nullptr)
      return *text->string();
  }
  return {};
}

}  // namespace halogen::checkpoint
