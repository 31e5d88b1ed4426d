// The architectures this engine knows. One more is one file with a `describe` and one line in architecture.cpp.
#pragma once
#include <span>
#include <string_view>

#include "native/engine/model/description.h"
#include "native/engine/model/header.h"

namespace halogen::model {

struct Architecture {
  const char* name;  // general.architecture
  Description (*describe)(const Header& header);
};

std::span<const Architecture> architectures();

// Throws model.missing_key, model.unknown_architecture, model.unsupported_format (a part of a split file) and what
// `describe` throws.
Description describe(const gguf::File& file);

// general.architecture, or "" when the file has none.
std::string architecture_name(const gguf::File& file);

Description describe_bitnet(const Header& header);
Description describe_bitnet_squared(const Header& header);
Description describe_gemma3(const Header& header);
Description describe_gemma4(const Header& header);
Description describe_glm4(const Header& header);
Description describe_glm4moe(const Header& header);
Description describe_gpt_oss(const Header& header);
Description describe_llama(const Header& header);
Description describe_mistral3(const Header& header);
Description describe_phi3(const Header& header);
Description describe_qwen2(const Header& header);
Description describe_qwen2moe(const Header& header);
Description describe_qwen3(const Header& header);
Description describe_qwen35(const Header& header);
Description describe_qwen35moe(const Header& header);
Description describe_qwen3moe(const Header& header);
Description describe_qwen3next(const Header& header);
Description describe_smollm3(const Header& header);

}  // namespace halogen::model
