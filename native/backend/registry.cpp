#include "native/backend/registry.h"

#include <algorithm>
#include <sstream>

#include "native/engine/error.h"

namespace halogen::backend {
namespace {

std::vector<std::string> missing_features(const kernel::Variant& variant, const std::set<std::string>& features) {
  std::vector<std::string> missing;
  std::istringstream words(variant.features);
  for (std::string word; words >> word;) {
    if (!features.contains(word)) missing.push_back(word);
  }
  return missing;
}

std::string joined(const std::vector<std::string>& words) {
  std::string text;
  for (const std::string& word : words) text += (text.empty() ? "" : ", ") + word;
  return text;
}

}  // namespace

KernelSet::KernelSet(std::string backend, const std::set<std::string>& features, std::string_view variant)
    : backend_(std::move(backend)) {
  std::vector<kernel::Variant> known(kernel::variants().begin(), kernel::variants().end());
  std::ranges::sort(known, std::ranges::greater{}, &kernel::Variant::rank);
  int highest = known.front().rank;
  if (!variant.empty()) {
    const auto chosen = std::ranges::find(known, variant, &kernel::Variant::name);
    if (chosen == known.end()) {
      std::vector<std::string> names;
      for (const kernel::Variant& each : known) names.emplace_back(each.name);
      throw Error(code::request_invalid, "There is no CPU variant \"" + std::string(variant) + "\" in this build.",
                  "Choose one of: " + joined(names) + ".", {{"variant", std::string(variant)}});
    }
    const std::vector<std::string> missing = missing_features(*chosen, features);
    if (!missing.empty()) {
      throw Error(code::request_invalid,
                  "This processor cannot run the CPU variant \"" + std::string(variant) + "\": it lacks " +
                      joined(missing) + ".",
                  "Leave the variant on automatic.", {{"variant", std::string(variant)}, {"missing", joined(missing)}});
    }
    highest = chosen->rank;
  }
  for (const kernel::Variant& each : known) {
    if (each.rank > highest || !missing_features(each, features).empty()) continue;
    const std::string& name = variants_.emplace_back(each.name);
    for (const kernel::Entry& entry : kernel::entries()) {
      if (backend_ == entry.backend && name == entry.variant) entries_.try_emplace({entry.op, entry.quant}, &entry);
    }
  }
}

const kernel::Entry* KernelSet::find(std::string_view op, std::string_view quant) const {
  const auto found = entries_.find({op, quant});
  return found != entries_.end() ? found->second : nullptr;
}

const kernel::Entry& KernelSet::entry(std::string_view op, std::string_view quant) const {
  if (const kernel::Entry* found = find(op, quant)) return *found;
  std::vector<std::string> tried;
  for (const std::string& variant : variants_) {
    tried.push_back(backend_ + "/" + std::string(op) + "/" + std::string(quant) + "/" + variant);
  }
  throw Error(code::engine_kernel_missing,
              "This build has no kernel for " + std::string(op) + " " + std::string(quant) + ".",
              "Tried " + joined(tried) + ".",
              {{"op", std::string(op)}, {"quant", std::string(quant)}, {"tried", joined(tried)}});
}

}  // namespace halogen::backend
