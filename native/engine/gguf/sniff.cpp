#include "native/engine/gguf/sniff.h"

#include <algorithm>
#include <cctype>
#include <string_view>

namespace halogen::gguf {

std::string sniff(const uint8_t* data, uint64_t size) {
  const std::string_view head(reinterpret_cast<const char*>(data), static_cast<size_t>(std::min<uint64_t>(size, 512)));
  std::string lower(head);
  std::ranges::transform(lower, lower.begin(), [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  const std::string_view trimmed =
      std::string_view(lower).substr(std::min(lower.find_first_not_of(" \t\r\n"), lower.size()));
  if (head.starts_with("version https://git-lfs")) {
    return "It is a Git LFS pointer, not the model itself: fetch the real file (git lfs pull, or download it).";
  }
  if (trimmed.starts_with("<!doctype") || trimmed.starts_with("<html")) {
    return "It looks like a web page: the download was probably answered with an error or a login page.";
  }
  if (head.starts_with("PK\x03\x04"))
    return "It looks like a ZIP archive or a PyTorch checkpoint; Halogen needs a GGUF file.";
  if (head.size() > 8 && head[8] == '{')
    return "It looks like a safetensors file; Halogen needs a GGUF conversion of it.";
  if (head.starts_with("lmgg") || head.starts_with("tjgg") || head.starts_with("fmgg") || head.starts_with("algg")) {
    return "It is in a GGML format from before GGUF; download a GGUF conversion of this model.";
  }
  const bool text =
      std::ranges::all_of(head, [](unsigned char c) { return c >= 32 || c == '\n' || c == '\r' || c == '\t'; });
  if (text && !head.empty()) return "It looks like a text file.";
  return "";
}

}  // namespace halogen::gguf
