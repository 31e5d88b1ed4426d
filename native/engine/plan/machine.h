#pragma once
#include <cstdint>

namespace halogen::plan {

struct Memory {
  uint64_t total = 0;
  uint64_t available = 0;  // without swapping others out
};

// Of this machine, lowered to the control group's limit. Bytes.
Memory machine_memory();

// Resident bytes of this process.
uint64_t process_memory();

}  // namespace halogen::plan
