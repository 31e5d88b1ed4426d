#include "native/engine/model/architecture.h"

#include <algorithm>

#include "native/engine/error.h"

namespace halogen::model {
namespace {

// One a line, so that two can be added at once.
// clang-format off
constexpr Architecture table[] = {
    {"bitnet", describe_bitnet},
    {"bitnet-25", describe_bitnet_squared},
    {"bitnet-b1.58", describe_bitnet_squared},
    {"gemma3", describe_gemma3},
    {"gemma4", describe_gemma4},
    {"glm4", describe_glm4},
    {"glm4moe", describe_glm4moe},
    {"gpt-oss", describe_gpt_oss},
    {"llama", describe_llama},
    {"mistral3", describe_mistral3},
    {"phi3", describe_phi3},
    {"qwen2", describe_qwen2},
    {"qwen2moe", describe_qwen2moe},
    {"qwen2vl", describe_qwen2},
    {"qwen3", describe_qwen3},
    {"qwen35", describe_qwen35},
    {"qwen35moe", describe_qwen35moe},
    {"qwen3moe", describe_qwen3moe},
    {"qwen3next", describe_qwen3next},
    {"qwen3vl", describe_qwen3},
    {"qwen3vlmoe", describe_qwen3moe},
    {"smollm3", describe_smollm3},
};
// clang-format on

// Each part is a whole GGUF file with some of the tensors.
void refuse_joined(const gguf::File& file) {
  if (!file.joined()) return;
  const uint64_t part = file.whole("split.no").value_or(0) + 1, parts = file.whole("split.count").value_or(0);
  throw Error(
      code::model_unsupported_format,
      "Several parts of a split model were joined into this file by copying them together, which GGUF does not "
      "allow.",
      "Keep the parts as they were downloaded, in one folder, or merge them with llama.cpp's gguf-split --merge.",
      {{"part", part}, {"parts", parts}});
}

}  // namespace

std::span<const Architecture> architectures() {
  return table;
}

std::string architecture_name(const gguf::File& file) {
  return std::string(file.string("general.architecture").value_or(""));
}

Description describe(const gguf::File& file) {
  const std::string name = architecture_name(file);
  if (name.empty()) {
    throw Error(code::model_missing_key, "The file lacks the key \"general.architecture\", so it names no model.",
                "It may hold something else than a language model.", {{"key", "general.architecture"}});
  }
  refuse_joined(file);
  const auto found = std::ranges::find(table, std::string_view(name), &Architecture::name);
  if (found == std::end(table)) {
    std::string known;
    for (const Architecture& each : table) known += (known.empty() ? "" : ", ") + std::string(each.name);
    throw Error(code::model_unknown_architecture,
                "This file is fine; Halogen does not know \"" + name + "\" models yet.", "It knows: " + known + ".",
                {{"architecture", name}, {"known", known}});
  }
  const Header header(file, name);
  Description description = found->describe(header);
  header.require_all_read(static_cast<int64_t>(description.layers.size()));
  description.architecture = name;
  return description;
}

}  // namespace halogen::model
