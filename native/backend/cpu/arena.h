// One block of zeroed memory, page-aligned; a Layout hands out 64-byte-aligned ranges of it before it exists.
#pragma once
#include <cstddef>
#include <cstdint>

namespace halogen::backend::cpu {

class Layout {
 public:
  // Overflow saturates, so that an absurd size stays absurd and is refused by the plan.
  uint64_t add(uint64_t bytes) {
    const uint64_t begin = bytes_;
    const uint64_t room = UINT64_MAX - 63 - bytes_;
    bytes_ = bytes > room ? UINT64_MAX - 63 : (bytes_ + bytes + 63) / 64 * 64;
    return begin;
  }
  uint64_t bytes() const { return bytes_; }

 private:
  uint64_t bytes_ = 0;
};

class Arena {
 public:
  // Throws memory.exhausted.
  Arena(const char* pool, uint64_t bytes);
  ~Arena();
  Arena(const Arena&) = delete;
  Arena& operator=(const Arena&) = delete;

  uint64_t bytes() const { return bytes_; }
  template <typename T = uint8_t>
  T* at(uint64_t offset) const {
    return reinterpret_cast<T*>(data_ + offset);
  }

 private:
  uint8_t* data_ = nullptr;
  uint64_t bytes_ = 0;
};

}  // namespace halogen::backend::cpu
