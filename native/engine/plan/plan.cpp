#include "native/engine/plan/plan.h"

#include <algorithm>
#include <cstdio>

#include "native/engine/gguf/checked.h"

namespace halogen::plan {
namespace {

constexpr uint64_t step = 256;           // tokens; the grain of a chosen context
constexpr uint64_t least_context = 512;  // below it a chat is pointless

MemoryPlan measure(const model::Description& description, const LoadOptions& options, const backend::Backend& backend,
                   uint64_t context) {
  const backend::Pools pools = backend.plan(description, {context, options.kv_type, options.threads});
  MemoryPlan plan;
  plan.context_length = context;
  plan.kv_type = options.kv_type;
  plan.weights = pools.weights;
  plan.kv = pools.kv;
  plan.recurrent = pools.recurrent;
  plan.checkpoints = pools.checkpoints;
  plan.scratch = pools.scratch;
  plan.total = plus(plus(plus(pools.weights, pools.kv), plus(pools.recurrent, pools.checkpoints)), pools.scratch)
                   .value_or(UINT64_MAX);
  plan.available = backend.available();
  plan.fits = plan.total <= plan.available;
  return plan;
}

}  // namespace

std::string in_words(uint64_t bytes) {
  static constexpr const char* units[] = {"bytes", "KiB", "MiB", "GiB", "TiB"};
  double value = static_cast<double>(bytes);
  size_t unit = 0;
  while (value >= 1024 && unit + 1 < std::size(units)) {
    value /= 1024;
    ++unit;
  }
  char text[64];
  std::snprintf(text, sizeof text, unit == 0 ? "%.0f %s" : "%.1f %s", value, units[unit]);
  return text;
}

MemoryPlan make(const model::Description& description, const LoadOptions& options, const backend::Backend& backend) {
  if (options.kv_type != "f16" && options.kv_type != "f32") {
    throw Error(code::request_invalid, "There is no KV type \"" + options.kv_type + "\".", "Choose f16 or f32.",
                {{"kvType", options.kv_type}});
  }
  if (options.threads < 0 || options.threads > 1024) {
    throw Error(code::request_invalid, std::to_string(options.threads) + " threads cannot be used.",
                "Choose 0 (automatic) to 1024.", {{"threads", options.threads}});
  }
  const uint64_t own = static_cast<uint64_t>(description.context);
  const bool automatic = options.context_length == 0;
  MemoryPlan plan = measure(description, options, backend, automatic ? own : std::min(own, options.context_length));
  if (automatic) {
    // Some memory is left for the rest of the machine.
    const uint64_t spare = std::min(plan.available / 10, uint64_t{2} << 30);
    const auto comfortable = [&](const MemoryPlan& tried) { return tried.total <= plan.available - spare; };
    plan.reason = "The context is the model's own, " + std::to_string(own) + " tokens.";
    if (!comfortable(plan)) {
      uint64_t low = std::min(own, least_context), high = own;
      MemoryPlan best = measure(description, options, backend, low);
      while (high - low > step) {
        const uint64_t middle = (low + (high - low) / 2) / step * step;
        if (middle <= low) break;
        const MemoryPlan tried = measure(description, options, backend, middle);
        if (comfortable(tried)) {
          low = middle;
          best = tried;
        } else {
          high = middle;
        }
      }
      plan = best;
      plan.reason = "The context is the largest that fits beside the weights: " + std::to_string(plan.context_length) +
                    " of the model's own " + std::to_string(own) + " tokens.";
    }
  } else if (options.context_length > own) {
    plan.reason = "The context was lowered to the model's own, " + std::to_string(own) + " tokens.";
  } else {
    plan.reason = "The context is as asked, " + std::to_string(plan.context_length) + " tokens.";
  }
  if (!plan.fits) {
    const uint64_t states = plan.recurrent + plan.checkpoints;
    plan.reason = "It needs " + in_words(plan.total) + " (weights " + in_words(plan.weights) + ", context " +
                  in_words(plan.kv) + (states > 0 ? ", states " + in_words(states) : "") + ", scratch " +
                  in_words(plan.scratch) + ") and " + in_words(plan.available) + " are available.";
  }
  return plan;
}

Error too_large(const MemoryPlan& plan) {
  return Error(code::model_too_large, "This model does not fit into memory. " + plan.reason,
               plan.weights <= plan.available ? "Choose a shorter context, or close other programs."
                                              : "Choose a smaller model or format.",
               {{"needed", plan.total},
                {"available", plan.available},
                {"weights", plan.weights},
                {"kv", plan.kv},
                {"recurrent", plan.recurrent},
                {"checkpoints", plan.checkpoints},
                {"scratch", plan.scratch},
                {"contextLength", plan.context_length}});
}

}  // namespace halogen::plan
