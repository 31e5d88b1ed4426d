// The bytes of one file.
#include <sys/mman.h>
#include <unistd.h>

#include "test/fuzz/use.h"

namespace {

using halogen::Engine;
using halogen::fuzz::wrong;

// One file whose content is replaced; its path names it while the process lives.
class Slot {
 public:
  Slot() : file_(memfd_create("halogen-fuzz", 0)), path_("/proc/self/fd/" + std::to_string(file_)) {
    if (file_ < 0) wrong("no memory file");
  }
  const std::string& hold(const uint8_t* data, size_t size) {
    if (ftruncate(file_, 0) != 0) wrong("ftruncate");
    for (size_t at = 0; at < size;) {
      const ssize_t count = pwrite(file_, data + at, size - at, static_cast<off_t>(at));
      if (count <= 0) wrong("pwrite");
      at += static_cast<size_t>(count);
    }
    return path_;
  }

 private:
  int file_;
  std::string path_;
};

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  static Slot slot;
  static Engine engine({"", 1, false});
  halogen::fuzz::use(engine, slot.hold(data, size));
  return 0;
}
