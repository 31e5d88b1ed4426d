// Finds kernels by (backend, op, quant) in the generated table, narrowest usable variant first.
#pragma once
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "kernel_table.h"

namespace halogen::backend {

template <typename T>
struct OpName;
template <>
struct OpName<kernel::Matmul> {
  static constexpr const char* value = "matmul";
};
template <>
struct OpName<kernel::Attention> {
  static constexpr const char* value = "attention";
};
template <>
struct OpName<kernel::DeltaNet> {
  static constexpr const char* value = "delta_net";
};

class KernelSet {
 public:
  // `features` are those of this processor. `variant` "" takes every usable one; otherwise that one and the broader
  // ones below it. Throws request.invalid for a variant that is not built or that this processor cannot run.
  KernelSet(std::string backend, const std::set<std::string>& features, std::string_view variant);

  // The struct of a table op. Throws engine.kernel_missing with the keys tried.
  template <typename T>
  const T& table(std::string_view quant) const {
    return *static_cast<const T*>(entry(OpName<T>::value, quant).data);
  }

  // A function op, e.g. function<kernel::RmsNorm>("rms_norm"). The op's type in the manifest must be Function.
  template <typename Function>
  Function function(std::string_view op, std::string_view quant = "") const {
    static_assert(std::is_pointer_v<Function>);
    return reinterpret_cast<Function>(entry(op, quant).function);
  }

  const kernel::Entry& entry(std::string_view op, std::string_view quant) const;
  bool has(std::string_view op, std::string_view quant) const { return find(op, quant) != nullptr; }
  // Usable variants, narrowest first.
  const std::vector<std::string>& variants() const { return variants_; }

 private:
  const kernel::Entry* find(std::string_view op, std::string_view quant) const;

  std::string backend_;
  std::vector<std::string> variants_;
  // By op and quant: that of the narrowest variant. A model of many experts asks thousands of times.
  std::map<std::pair<std::string_view, std::string_view>, const kernel::Entry*> entries_;
};

}  // namespace halogen::backend
