#include "native/bench/report.h"

#include <algorithm>
#include <cstdarg>
#include <cstdio>

namespace halogen::bench {

namespace {

[[gnu::format(printf, 1, 2)]] std::string formatted(const char* format, ...) {
  va_list words, again;
  va_start(words, format);
  va_copy(again, words);
  std::string text(static_cast<size_t>(std::vsnprintf(nullptr, 0, format, words)), '\0');
  va_end(words);
  std::vsnprintf(text.data(), text.size() + 1, format, again);
  va_end(again);
  return text;
}

unsigned long long number(uint64_t value) {
  return value;
}

double median(std::vector<double> values) {
  std::ranges::sort(values);
  const size_t middle = values.size() / 2;
  return values.size() % 2 == 1 ? values[middle] : (values[middle - 1] + values[middle]) / 2;
}

std::string spread(const std::vector<double>& values) {
  const auto [least, most] = std::ranges::minmax(values);
  return formatted("%.2f tokens/s (%.2f to %.2f)", median(values), least, most);
}

std::string spread_json(const std::vector<double>& values) {
  if (values.empty()) return "null";
  const auto [least, most] = std::ranges::minmax(values);
  std::string text =
      formatted("{\"median\":%.3f,\"least\":%.3f,\"most\":%.3f,\"values\":[", median(values), least, most);
  for (size_t i = 0; i < values.size(); ++i) text += formatted(i == 0 ? "%.3f" : ",%.3f", values[i]);
  return text + "]}";
}

uint64_t process_bytes(const Report& report) {
  const auto found = std::ranges::find(report.memory, "process", &MemoryPool::name);
  return found == report.memory.end() ? 0 : found->used;
}

}  // namespace

std::vector<Pool> pools(const Report& report) {
  const MemoryPlan& plan = report.loaded.plan;
  std::vector<Pool> all{{"weights", plan.weights},
                        {"kv", plan.kv},
                        {"recurrent", plan.recurrent},
                        {"checkpoints", plan.checkpoints},
                        {"scratch", plan.scratch}};
  for (Pool& pool : all) {
    const auto found = std::ranges::find(report.memory, pool.name, &MemoryPool::name);
    // Pools that fill up while a request runs say what was allocated as their limit.
    if (found != report.memory.end()) pool.allocated = found->limit.value_or(found->used);
  }
  return all;
}

std::string quoted(const std::string& text) {
  std::string out = "\"";
  for (const char c : text) {
    if (c == '"' || c == '\\')
      out += {'\\', c};
    else if (static_cast<unsigned char>(c) < 0x20)
      out += formatted("\\u%04x", static_cast<unsigned>(c));
    else
      out += c;
  }
  return out + "\"";
}

std::string in_words(const Report& report) {
  const ModelInspection& model = report.model;
  const MemoryPlan& plan = report.loaded.plan;
  std::string text =
      formatted("%s: %s, %s, %llu parameters, %llu bytes\n", (model.name.empty() ? model.path : model.name).c_str(),
                model.architecture.c_str(), model.format.c_str(), number(model.parameters), number(model.bytes));
  text += formatted("Halogen %s on %s, %d threads. %s\n", report.version.c_str(), report.processor.c_str(),
                    report.threads, report.kernels.c_str());
  text += formatted("context %llu, keys and values %s, loaded in %.0f ms\n", number(plan.context_length),
                    plan.kv_type.c_str(), report.loaded.load_milliseconds);
  text += formatted("%-12s %15s %15s\n", "bytes", "planned", "allocated");
  uint64_t allocated = 0;
  for (const Pool& pool : pools(report)) {
    text += formatted("%-12s %15llu %15llu%s\n", pool.name.c_str(), number(pool.planned), number(pool.allocated),
                      pool.planned == pool.allocated ? "" : "  DIFFERENT");
    allocated += pool.allocated;
  }
  text += formatted("%-12s %15llu %15llu\n", "total", number(plan.total), number(allocated));
  return text + formatted("%-12s %15s %15llu\n", "process", "", number(process_bytes(report)));
}

std::string in_words(const Run& run) {
  std::string text;
  if (!run.prefill.empty()) text += formatted("prefill %llu: ", number(run.prompt)) + spread(run.prefill) + "\n";
  return text + formatted("decode %llu at depth %llu: ", number(run.steps), number(run.prompt)) + spread(run.decode) +
         "\n";
}

std::string as_json(const Report& report) {
  const ModelInspection& model = report.model;
  std::string planned, allocated;
  for (const Pool& pool : pools(report)) {
    planned += formatted("\"%s\":%llu,", pool.name.c_str(), number(pool.planned));
    allocated += formatted("\"%s\":%llu,", pool.name.c_str(), number(pool.allocated));
  }
  std::string text = "{\"version\":" + quoted(report.version) + ",\"processor\":" + quoted(report.processor) +
                     ",\"threads\":" + std::to_string(report.threads) + ",\"kernels\":" + quoted(report.kernels);
  text += ",\"model\":{\"path\":" + quoted(model.path) + ",\"name\":" + quoted(model.name) +
          ",\"architecture\":" + quoted(model.architecture) + ",\"format\":" + quoted(model.format) +
          formatted(",\"parameters\":%llu,\"bytes\":%llu}", number(model.parameters), number(model.bytes));
  text +=
      formatted(",\"context\":%llu,\"kv\":\"%s\",\"loadMilliseconds\":%.1f", number(report.loaded.plan.context_length),
                report.loaded.plan.kv_type.c_str(), report.loaded.load_milliseconds);
  text += ",\"planned\":{" + planned + formatted("\"total\":%llu}", number(report.loaded.plan.total));
  text += ",\"allocated\":{" + allocated + formatted("\"process\":%llu}", number(process_bytes(report)));
  text += ",\"runs\":[";
  for (size_t i = 0; i < report.runs.size(); ++i) {
    const Run& run = report.runs[i];
    text += formatted("%s{\"prompt\":%llu,\"decoded\":%llu,\"prefillPerSecond\":", i == 0 ? "" : ",",
                      number(run.prompt), number(run.steps));
    text += spread_json(run.prefill) + ",\"decodePerSecond\":" + spread_json(run.decode) + "}";
  }
  return text + "]}\n";
}

}  // namespace halogen::bench
