// Arithmetic on sizes that come from files and requests: an overflow is an empty optional, never a wrong number.
#pragma once
#include <cstdint>
#include <optional>

namespace halogen {

using Size = std::optional<uint64_t>;

inline Size multiply(Size a, Size b) {
  if (!a || !b) return std::nullopt;
  if (*b != 0 && *a > UINT64_MAX / *b) return std::nullopt;
  return *a * *b;
}

inline Size plus(Size a, Size b) {
  if (!a || !b || *a > UINT64_MAX - *b) return std::nullopt;
  return *a + *b;
}

// Up to the next multiple of a power of two.
inline Size align_up(Size value, uint64_t alignment) {
  const Size sum = plus(value, alignment - 1);
  return sum ? Size(*sum & ~(alignment - 1)) : std::nullopt;
}

}  // namespace halogen
