// What a comparison must not show, such as "p99>5%".

#ifndef DISTBENCH_REPORT_COMPARISON_GATE_H_
#define DISTBENCH_REPORT_COMPARISON_GATE_H_

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "distbench/report/comparison/compare.h"
#include "distbench/stats/metric.h"

namespace distbench {

// [RPC:]METRIC>PERCENT% or [RPC:]METRIC<PERCENT%. The change of the metric from
// base to new is relative, "p99>5%": the new p99 is more than 5 % above the
// base's, "rate<-3%": the new rate is more than 3 % below; that of failures is
// in percentage points.
struct Gate {
  std::string text;
  std::string rpc;  // empty: each
  Metric metric;
  bool is_upper_limit;  // '>'
  double limit;         // as a share: 0.05 for 5 %
};

// The error (INVALID_ARGUMENT) says what is wrong and shows what is right.
absl::StatusOr<Gate> ParseGate(absl::string_view text);

// Why the gate is not met, a line for each RPC and test that breaks it. It is
// met if there is none. An RPC breaks it if its metric's change is beyond the
// limit and the interval of the change shows that there is one in that
// direction; without an interval, the change alone decides. What can not be
// judged breaks it, as does an RPC name that no test has.
std::vector<std::string> GateBreaches(
    const Gate& gate, absl::Span<const TestComparison> comparisons);

}  // namespace distbench

#endif  // DISTBENCH_REPORT_COMPARISON_GATE_H_
