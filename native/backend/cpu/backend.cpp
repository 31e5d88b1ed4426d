#include "native/backend/cpu/backend.h"

#include "native/backend/cpu/feature.h"
#include "native/backend/cpu/model.h"
#include "native/engine/plan/machine.h"

namespace halogen::backend::cpu {

CpuBackend::CpuBackend(const EngineOptions& options)
    : kernels_("cpu", features(), options.cpu_variant),
      forced_variant_(options.cpu_variant),
      threads_(options.threads > 0 ? options.threads : default_threads()),
      pin_(options.pin_threads) {}

Device CpuBackend::device() const {
  Device device;
  device.backend = "cpu";
  device.name = processor_name();
  device.usable = true;
  std::string order;
  for (const std::string& variant : kernels_.variants()) order += (order.empty() ? "" : ", then ") + variant;
  device.reason = (forced_variant_.empty() ? "Kernels by what the processor has: " : "Kernels as set: ") + order + ".";
  std::string slow;
  for (const gguf::Format& format : gguf::formats()) {
    if (kernels_.variants().front() == "reference" || !supports(format)) continue;
    if (kernels_.entry("matmul", format.key).variant != std::string_view("reference")) continue;
    slow += (slow.empty() ? "" : ", ") + std::string(format.name);
  }
  if (!slow.empty()) device.reason += " Exact, but slow for want of faster kernels: " + slow + ".";
  for (const std::string& feature : features()) device.features.push_back(feature);
  const plan::Memory memory = plan::machine_memory();
  device.memory.push_back({"ram", memory.total > memory.available ? memory.total - memory.available : 0, memory.total});
  return device;
}

bool CpuBackend::supports(const gguf::Format& format) const {
  return format.bytes != 0 && kernels_.has("matmul", format.key);
}

Pools CpuBackend::plan(const model::Description& description, const Setup& setup) const {
  return Program(description, kernels_, setup, setup.threads > 0 ? setup.threads : threads_).pools;
}

uint64_t CpuBackend::available() const {
  return plan::machine_memory().available;
}

std::unique_ptr<Model> CpuBackend::load(const gguf::File& file, const model::Description& description,
                                        const Setup& setup, const ProgressCallback& on_progress,
                                        const std::atomic<bool>& cancel) const {
  const int threads = setup.threads > 0 ? setup.threads : threads_;
  auto model = std::make_unique<CpuModel>(Program(description, kernels_, setup, threads),
                                          pin_ ? usable_cores() : std::vector<int>());
  model->load(file, on_progress, cancel);
  return model;
}

}  // namespace halogen::backend::cpu
