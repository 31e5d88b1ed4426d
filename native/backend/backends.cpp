#include "native/backend/cpu/backend.h"

namespace halogen::backend {

std::vector<std::unique_ptr<Backend>> backends(const EngineOptions& options) {
  std::vector<std::unique_ptr<Backend>> all;
  all.push_back(std::make_unique<cpu::CpuBackend>(options));
  return all;
}

}  // namespace halogen::backend
