#pragma once
#include "native/backend/backend.h"
#include "native/backend/registry.h"

namespace halogen::backend::cpu {

class CpuBackend : public Backend {
 public:
  // Throws request.invalid for a variant that cannot run here.
  explicit CpuBackend(const EngineOptions& options);

  std::string name() const override { return "cpu"; }
  Device device() const override;
  int threads() const override { return threads_; }
  bool supports(const gguf::Format& format) const override;
  Pools plan(const model::Description& description, const Setup& setup) const override;
  uint64_t available() const override;
  std::unique_ptr<Model> load(const gguf::File& file, const model::Description& description, const Setup& setup,
                              const ProgressCallback& on_progress, const std::atomic<bool>& cancel) const override;

 private:
  KernelSet kernels_;
  std::string forced_variant_;
  int threads_;
  bool pin_;
};

}  // namespace halogen::backend::cpu
