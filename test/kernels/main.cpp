// halogen-kernel-test [--golden FILE] [--row op/quant/variant]: one JSON line per manifest row; exit code 1 on a
// failure. halogen-kernel-test bench [quant[/variant]]
#include <cmath>
#include <cstdio>
#include <cstring>

#include "test/kernels/check.h"
#include "test/kernels/sample.h"

namespace halogen::test {

void Report::fail(const std::string& where) {
  if (failures_.size() < 8) failures_.push_back(where);
}

void Report::require(bool condition, const std::string& where) {
  ++cases_;
  if (!condition) fail(where);
}

void Report::expect(double error, double limit, const std::string& where) {
  ++cases_;
  const double ratio = error / limit;
  if (!(ratio <= 1)) {
    char text[64];
    std::snprintf(text, sizeof text, ": error %.3g, limit %.3g", error, limit);
    fail(where + text);
  }
  if (!(ratio <= worst_)) {
    worst_ = ratio;
    worst_case_ = where;
  }
}

namespace {

void check(const kernel::Entry& entry, const std::string& golden, Report& report) {
  const std::string op = entry.op;
  if (op == "matmul") {
    check_matmul(entry, report);
  } else if (op == "dequantize") {
    check_dequantize(entry, report);
    // awq4 is in no GGUF: its oracle is test/oracle/paroquant.
    if (!golden.empty() && entry.quant != std::string("awq4")) check_golden_blocks(entry, golden, report);
  } else if (op == "attention") {
    check_attention(entry, report);
  } else if (op == "delta_net" || op == "convolution" || op == "l2_norm" || op == "sigmoid_mul") {
    check_delta(entry, report);
  } else {
    check_element(entry, report);
  }
}

void print(const std::string& row, const Report& report) {
  std::printf("{\"row\": \"%s\", \"cases\": %lld, \"worst\": %.4g, \"at\": \"%s\", \"failures\": [", row.c_str(),
              static_cast<long long>(report.cases()), std::isfinite(report.worst()) ? report.worst() : 1e300,
              report.worst_case().c_str());
  const char* comma = "";
  for (const std::string& failure : report.failures()) {
    std::printf("%s\"%s\"", comma, failure.c_str());
    comma = ", ";
  }
  std::printf("]}\n");
  std::fflush(stdout);
}

int check_all(const std::string& golden, const std::string& wanted) {
  int failed = 0;
  for (const kernel::Entry& entry : kernel::entries()) {
    const std::string row = std::string(entry.op) + "/" + entry.quant + "/" + entry.variant;
    if (!wanted.empty() && row != wanted) continue;
    if (const std::string missing = missing_features(entry.variant); !missing.empty()) {
      std::printf("{\"row\": \"%s\", \"skipped\": \"this processor lacks %s\"}\n", row.c_str(), missing.c_str());
      continue;
    }
    Report report;
    check(entry, golden, report);
    // A row that nothing looked at is a failure too.
    report.require(report.cases() > 0, "no check knows this op");
    print(row, report);
    if (!report.failures().empty()) ++failed;
  }
  return failed == 0 ? 0 : 1;
}

}  // namespace
}  // namespace halogen::test

int main(int count, char** arguments) {
  std::string golden, row;
  if (count > 1 && std::strcmp(arguments[1], "bench") == 0) {
    halogen::test::bench(count > 2 ? arguments[2] : "");
    return 0;
  }
  for (int i = 1; i < count; ++i) {
    const bool has_value = i + 1 < count;
    if (std::strcmp(arguments[i], "--golden") == 0 && has_value) {
      golden = arguments[++i];
    } else if (std::strcmp(arguments[i], "--row") == 0 && has_value) {
      row = arguments[++i];
    } else {
      std::fprintf(stderr, "unknown argument %s\n", arguments[i]);
      return 2;
    }
  }
  return halogen::test::check_all(golden, row);
}
