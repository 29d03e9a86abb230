// Gates: limits on changes that a comparison must not exceed, such as "p99>5%".

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

// Written as [RPC:]METRIC>PERCENT% or [RPC:]METRIC<PERCENT%. The change from
// base to new is relative: "p99>5%" means that the new p99 is more than 5 %
// above the base's, "rate<-3%" that the new rate is more than 3 % below. For
// failures, it is in percentage points.
struct Gate {
  std::string text;
  std::string rpc;  // empty: every RPC
  Metric metric;
  bool is_upper_limit;  // '>'
  double limit;         // as a share: 0.05 for 5 %
};

// INVALID_ARGUMENT says what is wrong and shows the correct form.
absl::StatusOr<Gate> ParseGate(absl::string_view text);

// Explains why the gate is broken, with one line per RPC and test that breaks
// it; empty if the gate is met. An RPC breaks the gate if its metric's change
// is beyond the limit and the confidence interval shows a change in that
// direction. Without an interval, the change alone decides. A gate is also
// broken by anything that cannot be judged, and by an RPC name that no test
// has.
std::vector<std::string> GateBreaches(
    const Gate& gate, absl::Span<const TestComparison> comparisons);

}  // namespace distbench

#endif  // DISTBENCH_REPORT_COMPARISON_GATE_H_
