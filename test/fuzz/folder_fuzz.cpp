// A folder of files that make one model: the parts of a split GGUF, or safetensors with what describes them. The first
// byte says what is opened; then come files: the number of a name, a length of four bytes, and the bytes (as many as
// there are).
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <filesystem>
#include <fstream>

#include "test/fuzz/use.h"

namespace {

using halogen::Engine;

constexpr std::array names{"config.json",
                           "model.safetensors",
                           "model.safetensors.index.json",
                           "model-00001-of-00002.safetensors",
                           "model-00002-of-00002.safetensors",
                           "tokenizer.json",
                           "tokenizer_config.json",
                           "chat_template.jinja",
                           "m-00001-of-00002.gguf",
                           "m-00002-of-00002.gguf"};
constexpr std::array opened{"", "m-00001-of-00002.gguf", "m-00002-of-00002.gguf"};

class Folder {
 public:
  Folder() : path_("/dev/shm/halogen-fuzz-" + std::to_string(getpid())) {}
  ~Folder() { clear(); }

  std::string hold(const uint8_t* data, size_t size) {
    clear();
    std::filesystem::create_directories(path_);
    if (size == 0) return path_;
    const std::string name = opened[data[0] % opened.size()];
    for (size_t at = 1; at + 5 <= size;) {
      uint32_t length = 0;
      std::memcpy(&length, data + at + 1, 4);
      const size_t there = std::min<size_t>(length, size - at - 5);
      std::ofstream file(path_ + "/" + names[data[at] % names.size()], std::ios::binary);
      file.write(reinterpret_cast<const char*>(data + at + 5), static_cast<std::streamsize>(there));
      if (!file.flush()) halogen::fuzz::wrong("a file was not written");
      at += 5 + there;
    }
    return name.empty() ? path_ : path_ + "/" + name;
  }

 private:
  void clear() const { std::filesystem::remove_all(path_); }
  std::string path_;
};

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  static Folder folder;
  static Engine engine({"", 1, false});
  halogen::fuzz::use(engine, folder.hold(data, size));
  return 0;
}
