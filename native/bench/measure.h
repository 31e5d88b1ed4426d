// One timed generation.
#pragma once
#include <cstdint>
#include <vector>

#include "native/engine/engine.h"

namespace halogen::bench {

struct Measured {
  double prefill_milliseconds = 0;  // from the request to its first token
  double decode_milliseconds = 0;   // from there to the last
  std::vector<int32_t> ids;         // 1 + steps
};

// Greedily: `prompt` to the first token, then `steps` more. Wall time; the first token's moment is taken on the
// engine's thread, so that it does not matter when this one is woken. Throws what the generation throws, and
// request.invalid with the numbers when it was no measurement: tokens reused, fewer made, or no time that a clock saw.
Measured measure(Engine& engine, uint64_t handle, const std::vector<int32_t>& prompt, uint64_t steps);

// Token ids between white space. Throws file.unreadable, and request.invalid for a word that is no id or no ids at all.
std::vector<int32_t> read_ids(const std::string& path);

}  // namespace halogen::bench
