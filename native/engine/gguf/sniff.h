// What a file that is not GGUF looks like, in words for the user.
#pragma once
#include <cstdint>
#include <string>

namespace halogen::gguf {

// e.g. "It looks like a web page: the download was probably redirected." Empty when nothing is recognised.
std::string sniff(const uint8_t* data, uint64_t size);

}  // namespace halogen::gguf
