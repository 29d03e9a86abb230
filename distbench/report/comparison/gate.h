// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

// Gates: limits on changes that a comparison must not exceed, such as "p99>5%".

#ifndef DISTBENCH_REPORT_COMPARISON_GATE_H_
#define DISTBENCH_REPORT_COMPARISON_GATE_H_

#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "distbench/report/comparison/compare.h"
#include "distbench/report/verdicts/check.h"
#include "distbench/stats/metric.h"
#include "distbench/stats/run_interval.h"
#include "proto/traffic_config.pb.h"

namespace distbench::report {

// The bounds of a change by which gates judge it.

// Returns the change with a lower and an upper bound, each of which is wrong
// with a probability of at most `error`. The bounds are those of
// ChangeBetweenRuns(), but no narrower than the measurements allow, so that
// runs that happen to be alike are not taken for certainty:
// - percentiles by the resolution of their histograms;
// - shares of failures and of wasted attempts by what as many RPCs leave open,
//   however few failed, and by how unevenly they failed in the runs
//   (stats/share_interval.h).
stats::Difference BoundsOf(const MetricComparison& comparison, double error);

// Written as [RPC:]METRIC>PERCENT% or [RPC:]METRIC<PERCENT%. The change from
// base to new is relative: "p99>5%" means that the new p99 is more than 5 %
// above the base's, "rate<-3%" that the new rate is more than 3 % below. For
// failures and other shares, the change is in percentage points.
// "metric:cpu>5%" is about what the test reads of a server, never about an RPC
// "metric".
struct Gate {
  std::string text;
  std::string rpc;  // empty: every RPC, or the test itself
  stats::Metric metric;
  bool is_upper_limit;  // '>'
  double limit;         // as a share: 0.05 for 5 %
};

// Parses a gate. INVALID_ARGUMENT says what is wrong and shows the correct
// form.
absl::StatusOr<Gate> ParseGate(absl::string_view text);

// INVALID_ARGUMENT names the first gate on an RPC that none of the tests of
// either group has, and says which was probably meant. OK if they have none at
// all.
absl::Status CheckRpcsOf(
    absl::Span<const Gate> gates,
    absl::Span<const DistributedSystemDescription* const> tests);

// Adds the gate's metric to those that are compared of each RPC, unless it is
// among them, or of the test.
void AddMetricOf(const Gate& gate, CompareOptions& options);

// The family-wise error rate: the maximum probability that any gate fails
// although nothing has changed, or passes although a change exceeds its limit.
inline constexpr double kGateError = 0.05;

// Judges each gate on each RPC, or test, that it applies to, as a
// non-inferiority test: it passes if the bounds of the change lie within the
// limit, fails if they lie beyond, and is undecided otherwise or if a group has
// a single run. The bounds are one-sided; their error is kGateError divided by
// the number of judgements (Bonferroni). If the runs were repeated until they
// decided, that error is for all looks together (until_decided.h), and the
// first look is at kFirstLook runs of each. The evidence of an undecided gate
// says how many runs would decide in most cases (stats::kPower), of shares and
// with repeated looks only about how many would be needed. A gate that
// cannot be judged fails, as does one whose RPC is in no test or in base only.
std::vector<Check> JudgeGates(absl::Span<const Gate> gates,
                              absl::Span<const TestComparison> comparisons);

// Whether more runs cannot change whether all gates pass: one has failed, or
// none is undecided.
bool AreDecided(absl::Span<const Check> checks);

}  // namespace distbench::report

#endif  // DISTBENCH_REPORT_COMPARISON_GATE_H_
