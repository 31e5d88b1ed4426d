#include "native/engine/plan/plan.h"

#include <algorithm>
#include <cstdio>

#include "native/engine/gguf/checked.h"
#include "native/engine/model/rope.h"

namespace halogen::plan {
namespace {

constexpr uint64_t step = 256;           // tokens; the grain of a chosen context
constexpr uint64_t least_context = 512;  // below it a chat is pointless

// Automatic KV type: Q8_0 must hold this much more context than F16 to be worth its error.
constexpr double worth = 1.25;

constexpr const char* kv_types[] = {"f32", "f16", "bf16", "q8_0"};

MemoryPlan measure(const model::Description& description, const LoadOptions& options, const backend::Backend& backend,
                   const std::string& kv_type, uint64_t context) {
  const backend::Pools pools = backend.plan(description, {context, kv_type, options.threads});
  MemoryPlan plan;
  plan.context_length = context;
  plan.kv_type = kv_type;
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

// Some memory is left for the rest of the machine.
bool comfortable(const MemoryPlan& plan) {
  return plan.total <= plan.available - std::min(plan.available / 10, uint64_t{2} << 30);
}

// The context as asked, or the largest that fits; the reason says which.
MemoryPlan with_type(const model::Description& description, const LoadOptions& options, const backend::Backend& backend,
                     const std::string& kv_type) {
  const uint64_t own = static_cast<uint64_t>(description.context);
  const bool automatic = options.context_length == 0;
  const auto tried = [&](uint64_t context) { return measure(description, options, backend, kv_type, context); };
  MemoryPlan plan = tried(automatic ? own : std::min(own, options.context_length));
  if (!automatic) {
    plan.reason = options.context_length > own
                      ? "The context was lowered to the model's own, " + std::to_string(own) + " tokens."
                      : "The context is as asked, " + std::to_string(plan.context_length) + " tokens.";
    return plan;
  }
  plan.reason = "The context is the model's own, " + std::to_string(own) + " tokens.";
  if (comfortable(plan)) return plan;
  uint64_t low = std::min(own, least_context), high = own;
  plan = tried(low);
  while (high - low > step) {
    const uint64_t middle = (low + (high - low) / 2) / step * step;
    if (middle <= low) break;
    const MemoryPlan next = tried(middle);
    if (comfortable(next)) {
      low = middle;
      plan = next;
    } else {
      high = middle;
    }
  }
  plan.reason = "The context is the largest that fits beside the weights: " + std::to_string(plan.context_length) +
                " of the model's own " + std::to_string(own) + " tokens.";
  return plan;
}

// F16, unless it does not fit or Q8_0 holds much more of the model's own context.
MemoryPlan with_best_type(const model::Description& description, const LoadOptions& options,
                          const backend::Backend& backend) {
  MemoryPlan half = with_type(description, options, backend, "f16");
  const uint64_t own = static_cast<uint64_t>(description.context);
  const bool whole = options.context_length > 0 || half.context_length == own;
  if (whole && comfortable(half)) return half;
  MemoryPlan byte = with_type(description, options, backend, "q8_0");
  const std::string held = std::to_string(half.context_length) + " tokens";
  if (!half.fits && byte.fits) {
    byte.reason += " Keys and values are Q8_0, because F16 would need " + in_words(half.kv) + " for " + held + ".";
    return byte;
  }
  const auto most = static_cast<double>(half.context_length) * worth;
  if (byte.fits && static_cast<double>(byte.context_length) >= most) {
    byte.reason += " Keys and values are Q8_0, because F16 would hold only " + held + ".";
    return byte;
  }
  return half;
}

// Which of two sets of rope factors this context takes; "" where the model has no choice.
std::string rope_choice(const model::Description& description, uint64_t context) {
  const auto has_both = [](const model::Layer& layer) { return layer.attention.rope.long_factors != nullptr; };
  const auto layer = std::ranges::find_if(description.layers, has_both);
  if (layer == description.layers.end()) return "";
  const model::Rope& rope = layer->attention.rope;
  const bool takes_long = model::takes_long_factors(rope, context);
  return std::string(" Positions use the model's ") + (takes_long ? "long" : "short") +
         " rope factors, because the context is " + (takes_long ? "more than" : "within") + " the " +
         std::to_string(rope.original) + " tokens it was first trained for.";
}

void check(const LoadOptions& options) {
  std::string known = "auto";
  for (const char* each : kv_types) known += std::string(", ") + each;
  if (options.kv_type != "auto" && std::ranges::find(kv_types, options.kv_type) == std::end(kv_types)) {
    throw Error(code::request_invalid, "There is no KV type \"" + options.kv_type + "\".",
                "Choose one of " + known + ".", {{"kvType", options.kv_type}});
  }
  if (options.threads < 0 || options.threads > 1024) {
    throw Error(code::request_invalid, std::to_string(options.threads) + " threads cannot be used.",
                "Choose 0 (automatic) to 1024.", {{"threads", options.threads}});
  }
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
  check(options);
  MemoryPlan plan = options.kv_type == "auto" ? with_best_type(description, options, backend)
                                              : with_type(description, options, backend, options.kv_type);
  plan.reason += rope_choice(description, plan.context_length);
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
