// Two groups of runs, RPC by RPC.

#ifndef DISTBENCH_REPORT_COMPARISON_COMPARE_H_
#define DISTBENCH_REPORT_COMPARISON_COMPARE_H_

#include <string>
#include <vector>

#include "absl/types/span.h"
#include "distbench/report/measurements/test_run.h"
#include "distbench/stats/metric.h"
#include "distbench/stats/welch_interval.h"

namespace distbench {

// Differences are shown with this confidence.
inline constexpr double kCompareConfidence = 0.95;

enum class ComparisonVerdict {
  kBetter,
  kWorse,
  kNoDifference,  // none is shown, which is not: there is none
  kNotShown,      // there is no interval to tell by
  kNotComparable,
};

struct MetricComparison {
  Metric metric;
  ComparisonVerdict verdict;
  std::string reason;  // kNotComparable only

  // Of the runs together: geometric means, for failures arithmetic ones. In
  // nanoseconds, per second, or a share from 0 to 1.
  double base = 0;
  double next = 0;

  // next / base, or for failures next - base.
  Difference change = {};

  // The metric in each run; empty if it is not comparable.
  std::vector<double> base_values = {};
  std::vector<double> next_values = {};
};

// The change with its interval of the confidence given.
Difference ChangeOf(const MetricComparison& comparison, double confidence);

struct RpcComparison {
  std::string rpc;

  // What latencies are: "response time" if all runs of both groups have it,
  // else "service time".
  std::string latency;
  std::vector<MetricComparison> metrics;
};

struct TestComparison {
  std::string test;
  int base_runs = 0;
  int next_runs = 0;

  // Why the test is not compared, and whether that is since numbers are false;
  // empty if it is.
  std::string not_comparable;
  bool is_invalid = false;

  // What differs between the groups besides what was measured.
  std::vector<std::string> notes;
  std::vector<RpcComparison> rpcs;
};

struct CompareOptions {
  std::vector<Metric> metrics = DefaultMetrics();

  // Compare also what was sent differently, with a note.
  bool allow_different_traffic = false;
};

// A comparison for each test of either group. Runs of equal name are
// repetitions of a test; a single test on each side is compared whatever the
// names. Of a latency or rate, the ratio of geometric means over the runs is
// judged by its interval (stats/welch_interval.h): worse or better if that does
// not contain 1 and, for percentiles, the ratio is beyond the resolution of the
// histograms.
std::vector<TestComparison> Compare(absl::Span<const TestRun> base,
                                    absl::Span<const TestRun> next,
                                    const CompareOptions& options);

}  // namespace distbench

#endif  // DISTBENCH_REPORT_COMPARISON_COMPARE_H_
