// Gates: limits on changes that a comparison must not exceed, such as "p99>5%".

#ifndef DISTBENCH_REPORT_COMPARISON_GATE_H_
#define DISTBENCH_REPORT_COMPARISON_GATE_H_

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "distbench/report/checks/check.h"
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

// All gates together fail what is equal, or pass what is worse than allowed, with
// at most this probability.
inline constexpr double kGateError = 0.05;

// Judges each gate on each RPC that it is about, as a test of non-inferiority:
// it passes if the change, with its uncertainty, lies within the limit, fails if
// it lies beyond, and is undecided else, as it is where a group has a single
// run. The bounds are one-sided; their error is kGateError divided by the number
// of judgements (Bonferroni). What is undecided says how many runs would decide.
// What cannot be judged fails, as does an RPC name that no test has.
std::vector<Check> JudgeGates(absl::Span<const Gate> gates,
                              absl::Span<const TestComparison> comparisons);

}  // namespace distbench

#endif  // DISTBENCH_REPORT_COMPARISON_GATE_H_
