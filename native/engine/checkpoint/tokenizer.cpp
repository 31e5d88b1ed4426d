// tokenizer.json as a GGUF vocabulary: tokens by id, their types, merges, and the name of the pre-tokenizer.
#include <algorithm>

#include "native/engine/checkpoint/config.h"
#include "native/engine/checkpoint/folder.h"
#include "native/engine/checkpoint/safetensors.h"
#include "native/engine/error.h"

namespace halogen::checkpoint {
namespace {

constexpr uint64_t longest_tokenizer = 256'000'000;
constexpr uint64_t most_tokens = 1 << 22;
enum Kind : int32_t { normal = 1, control = 3, user_defined = 4, unused = 5 };

// What follows the contractions in the expression that cuts text into words, by GGUF's name of it.
constexpr struct {
  const char* name;
  const char* expression;
} cutters[] = {
    {"qwen2", R"([^\r\n\p{L}\p{N}]?\p{L}+|\p{N}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+)"},
    {"qwen35", R"([^\r\n\p{L}\p{N}]?[\p{L}\p{M}]+|\p{N}| ?[^\s\p{L}\p{M}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+)"},
};

[[noreturn]] void malformed(const std::string& problem) {
  throw Error(code::tokenizer_malformed, "tokenizer.json " + problem + ".", "Download it again.", {});
}

[[noreturn]] void unsupported(const std::string& what) {
  throw Error(code::tokenizer_unsupported,
              "This model is fine; Halogen does not know tokenizers with " + what + " yet.", "Download it as GGUF.",
              {{"tokenizer", what}});
}

// The first expression of a pre-tokenizer, which may be several in a row.
const std::string* expression_of(const json::Value* cutter) {
  if (cutter == nullptr) return nullptr;
  if (const json::Value* pattern = cutter->find("pattern"); pattern != nullptr) {
    const json::Value* expression = pattern->find("Regex");
    return expression != nullptr ? expression->string() : nullptr;
  }
  const json::Value* inner = cutter->find("pretokenizers");
  if (inner == nullptr || inner->array() == nullptr) return nullptr;
  for (const json::Value& each : *inner->array()) {
    if (const std::string* expression = expression_of(&each); expression != nullptr) return expression;
  }
  return nullptr;
}

std::string cutter_name(const Config& tokenizer) {
  const std::string* expression = expression_of(tokenizer.find("pre_tokenizer"));
  if (expression == nullptr) unsupported("no word expression");
  const size_t border = expression->find(")|");
  const std::string rest = border == std::string::npos ? *expression : expression->substr(border + 2);
  for (const auto& [name, known] : cutters) {
    if (rest == known) return name;
  }
  unsupported("the word expression " + *expression);
}

uint64_t id_of(const json::Value* value) {
  const double* number = value != nullptr ? value->number() : nullptr;
  if (number == nullptr || !(*number >= 0 && *number < static_cast<double>(most_tokens)) ||
      *number != static_cast<double>(static_cast<uint64_t>(*number)))
    malformed("has a token whose id is no whole number below " + std::to_string(most_tokens));
  return static_cast<uint64_t>(*number);
}

struct Tokens {
  std::vector<std::string> texts;
  std::vector<int32_t> types;

  void put(uint64_t id, const std::string& text, Kind kind) {
    if (id >= texts.size()) {
      texts.resize(id + 1);
      types.resize(id + 1, unused);
    }
    texts[id] = text;
    types[id] = kind;
  }
};

Tokens read_tokens(const Config& tokenizer, const Config& model) {
  Tokens tokens;
  const json::Value* words = model.find("vocab");
  if (words == nullptr || words->object() == nullptr || words->object()->empty()) malformed("holds no vocabulary");
  for (const auto& [text, id] : *words->object()) tokens.put(id_of(&id), text, normal);
  if (const json::Value* added = tokenizer.find("added_tokens"); added != nullptr && added->array() != nullptr) {
    for (const json::Value& each : *added->array()) {
      const json::Value *text = each.find("content"), *special = each.find("special");
      if (text == nullptr || text->string() == nullptr) malformed("has an added token without its text");
      const bool controls = special != nullptr && special->boolean() != nullptr && *special->boolean();
      tokens.put(id_of(each.find("id")), *text->string(), controls ? control : user_defined);
    }
  }
  return tokens;
}

PackedStrings packed(const std::vector<std::string>& texts) {
  PackedStrings result;
  result.offsets.reserve(texts.size() + 1);
  for (const std::string& text : texts) {
    result.bytes.insert(result.bytes.end(), text.begin(), text.end());
    result.offsets.push_back(static_cast<uint32_t>(result.bytes.size()));
  }
  return result;
}

// Pairs as "a b" or ["a", "b"]; no token of a byte-level vocabulary holds a space.
std::vector<std::string> read_merges(const Config& model) {
  std::vector<std::string> merges;
  const json::Value* list = model.find("merges");
  if (list == nullptr || list->array() == nullptr) malformed("holds no merges");
  for (const json::Value& each : *list->array()) {
    const json::Array* pair = each.array();
    if (each.string() != nullptr) {
      merges.push_back(*each.string());
    } else if (pair != nullptr && pair->size() == 2 && (*pair)[0].string() != nullptr &&
               (*pair)[1].string() != nullptr) {
      merges.push_back(*(*pair)[0].string() + " " + *(*pair)[1].string());
    } else {
      malformed("has a merge that is no pair");
    }
  }
  return merges;
}

// A token that the configuration names, by its text or by an object that holds it.
void put_special(const Config& config, const char* key, const char* name, const Tokens& tokens, Vocabulary& to) {
  const json::Value* value = config.find(key);
  if (value == nullptr) return;
  if (const json::Value* content = value->find("content"); content != nullptr) value = content;
  if (value->string() == nullptr) return;
  const auto found = std::ranges::find(tokens.texts, *value->string());
  if (found != tokens.texts.end()) to.special[name] = found - tokens.texts.begin();
}

}  // namespace

Vocabulary read_vocabulary(const std::string& folder) {
  const std::string text = read_text(folder + "/tokenizer.json", longest_tokenizer);
  if (text.empty()) {
    throw Error(code::tokenizer_malformed, "The model folder has no tokenizer.json.", "Download the whole folder.",
                {{"path", folder + "/tokenizer.json"}});
  }
  const Config tokenizer = Config::of(json::parse(text, "tokenizer.json"), "tokenizer.json");
  const Config model = tokenizer.inner("model");
  if (const std::string type = model.text_or("type", "BPE"); type != "BPE") unsupported("the model " + type);
  Vocabulary result;
  result.model = "gpt2";
  result.pre = cutter_name(tokenizer);
  Tokens tokens = read_tokens(tokenizer, model);
  // The model may have rows for tokens that its tokenizer never makes.
  const Config config = Config::read(folder, "config.json", true);
  const Config inner = config.inner("text_config");
  const uint64_t rows = (inner.empty() ? config : inner).whole_or("vocab_size", 0, most_tokens);
  if (rows > tokens.texts.size()) {
    tokens.texts.resize(rows);
    tokens.types.resize(rows, unused);
  }
  for (size_t i = 0; i < tokens.texts.size(); ++i) {
    if (tokens.types[i] == unused) tokens.texts[i] = "[PAD" + std::to_string(i) + "]";
  }
  result.tokens = packed(tokens.texts);
  result.types = tokens.types;
  result.merges = packed(read_merges(model));
  const Config hints = Config::read(folder, "tokenizer_config.json", false);
  put_special(hints, "bos_token", "bos", tokens, result);
  put_special(hints, "eos_token", "eos", tokens, result);
  put_special(hints, "pad_token", "padding", tokens, result);
  put_special(hints, "unk_token", "unknown", tokens, result);
  result.flags["add_bos_token"] = hints.flag_or("add_bos_token", false);
  return result;
}

}  // namespace halogen::checkpoint
