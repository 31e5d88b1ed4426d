// The face of the generated kernel table.
#pragma once
#include <span>

namespace halogen::kernel {

struct Variant {
  const char* name;
  int rank;              // narrower instruction sets have higher ranks
  const char* features;  // CPU features it needs, separated by spaces
};

// One manifest row. `data` points to the op's struct, or `function` to the op's function, cast; the op says which.
struct Entry {
  const char* backend;
  const char* op;
  const char* quant;
  const char* variant;
  const void* data;
  void (*function)();
};

std::span<const Variant> variants();
std::span<const Entry> entries();

}  // namespace halogen::kernel
