// Each check holds one manifest row against exact values and reports the worst case found.
#pragma once
#include <cstdint>
#include <string>
#include <vector>

#include "kernels/table.h"

namespace halogen::test {

// `error` is in units of the row's own measure; it passes at or below `limit`. NaN never passes.
class Report {
 public:
  void expect(double error, double limit, const std::string& where);
  void require(bool condition, const std::string& where);
  int64_t cases() const { return cases_; }
  double worst() const { return worst_; }  // error / limit
  const std::string& worst_case() const { return worst_case_; }
  const std::vector<std::string>& failures() const { return failures_; }

 private:
  void fail(const std::string& where);
  int64_t cases_ = 0;
  double worst_ = 0;
  std::string worst_case_;
  std::vector<std::string> failures_;
};

void check_matmul(const kernel::Entry& entry, Report& report);
void check_dequantize(const kernel::Entry& entry, Report& report);
void check_attention(const kernel::Entry& entry, Report& report);
void check_delta(const kernel::Entry& entry, Report& report);
void check_element(const kernel::Entry& entry, Report& report);

// Golden blocks of `path` (test/oracle/make_block_golden.py) through the row's dequantiser.
void check_golden_blocks(const kernel::Entry& entry, const std::string& path, Report& report);

// Prints speeds as JSON, of the rows whose "quant/variant" begins with `wanted`.
void bench(const std::string& wanted);

}  // namespace halogen::test
