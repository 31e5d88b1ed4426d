#include "native/backend/cpu/arena.h"

#include <sys/mman.h>

#include <string>

#include "native/engine/error.h"

namespace halogen::backend::cpu {

Arena::Arena(const char* pool, uint64_t bytes) : bytes_(bytes) {
  if (bytes == 0) return;
  void* mapped = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (mapped == MAP_FAILED) {
    throw Error(code::memory_exhausted, "The system refused " + std::to_string(bytes) + " bytes for " + pool + ".",
                "Close other programs, or choose a smaller model or context.", {{"pool", pool}, {"bytes", bytes}});
  }
#ifdef MADV_HUGEPAGE
  madvise(mapped, bytes, MADV_HUGEPAGE);
#endif
  data_ = static_cast<uint8_t*>(mapped);
}

Arena::~Arena() {
  if (data_ != nullptr) munmap(data_, bytes_);
}

}  // namespace halogen::backend::cpu
