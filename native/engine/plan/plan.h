#pragma once
#include <string>

#include "native/backend/backend.h"

namespace halogen::plan {

// Exact bytes per pool and the context they are for; decides context 0, KV type "auto" and whether it fits.
// Throws request.invalid for an unknown KV type and model.* for what the backend cannot run.
MemoryPlan make(const model::Description& description, const LoadOptions& options, const backend::Backend& backend);

// The refusal of a plan that does not fit.
Error too_large(const MemoryPlan& plan);

// e.g. "1.5 GiB"
std::string in_words(uint64_t bytes);

}  // namespace halogen::plan
