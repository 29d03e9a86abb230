// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

// Compares two groups of runs, RPC by RPC.
//
//   std::vector<TestComparison> tests = Compare(base, next, CompareOptions());

#ifndef DISTBENCH_REPORT_COMPARISON_COMPARE_H_
#define DISTBENCH_REPORT_COMPARISON_COMPARE_H_

#include <array>
#include <compare>
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "distbench/report/comparison/comparability.h"
#include "distbench/report/comparison/distribution_change.h"
#include "distbench/report/comparison/until_decided.h"
#include "distbench/report/measurements/test_run.h"
#include "distbench/stats/log_histogram.h"
#include "distbench/stats/metric.h"
#include "distbench/stats/run_interval.h"

namespace distbench::report {

// Confidence level of all intervals of differences.
inline constexpr double kCompareConfidence = 0.95;

// Two latencies in one histogram bucket may differ by this share.
inline constexpr double kLatencyResolution =
    1.0 / stats::LogHistogram::kSubBuckets;

// In the order in which readers look for them.
enum class ComparisonVerdict {
  kWorse,
  kBetter,
  kDiffers,       // in a metric of which neither direction is better
  kNotShown,      // without an interval nothing can be concluded
  kNoDifference,  // none was shown; there may still be one
  kNotComparable,
};
inline constexpr size_t kComparisonVerdicts = 6;

struct MetricComparison {
  stats::Metric metric;
  ComparisonVerdict verdict;
  std::string reason;  // kNotComparable only

  // The means of the groups: geometric, or arithmetic where they are compared
  // by their difference. In the unit of the metric.
  double base = 0;
  double next = 0;

  // next / base, or next - base; see IsByRatio().
  stats::Difference change = {};

  // The metric in each run; empty if it is not comparable.
  std::vector<double> base_values = {};
  std::vector<double> next_values = {};

  // The number of RPCs in each group; 0 for metrics of whole runs.
  uint64_t base_count = 0;
  uint64_t next_count = 0;

  // See NoiseFloor(); absent if it is not known.
  std::optional<double> noise_floor = {};
};

// Whether the change is a ratio, rather than a difference: that of most metrics
// is (stats::IsComparedByRatio()). A metric without a better direction may have
// any values, and is compared by difference if one of them is not positive.
bool IsByRatio(const MetricComparison& comparison);

// By which share buckets of histograms may falsify a ratio: kLatencyResolution
// of percentiles. 0 of all that is not in buckets, as the shares of isolation,
// whose percentiles are compared by difference.
double ResolutionOf(const MetricComparison& comparison);

// Judges a change, which is `no_change` between equal groups: better or worse
// if the interval does not contain that, and the estimate is more than
// `resolution` from it.
ComparisonVerdict JudgeChange(const stats::Difference& change, double no_change,
                              double resolution, bool higher_is_better);

// Whether it is a share of RPCs, whose number says how well it is known.
bool IsShareOfRpcs(const stats::Metric& metric);

// Returns the change with the confidence interval that the runs' values give:
// none wide if all are equal.
stats::Difference ChangeBetweenRuns(const MetricComparison& comparison,
                                    double confidence);

// The same with the interval that is shown and judged. That of shares of RPCs
// is no narrower than that of as many RPCs that fail independently
// (stats/share_interval.h): runs without a failure leave some open.
stats::Difference ChangeOf(const MetricComparison& comparison,
                           double confidence);

// The verdict on the change by an interval of this confidence.
ComparisonVerdict VerdictAt(double confidence,
                            const MetricComparison& comparison);

struct RpcComparison {
  std::string rpc;

  // The kind of latency: "response time" if all runs of both groups have it,
  // otherwise "service time".
  std::string latency;
  std::vector<MetricComparison> metrics;
  DistributionChange distribution = {};
};

// How many runs of each group.
struct RunCounts {
  int base = 0;
  int next = 0;

  friend auto operator<=>(const RunCounts&, const RunCounts&) = default;
};

struct TestComparison {
  std::string test;

  // The test in each group; empty if the group does not have it.
  std::string base_name;
  std::string next_name;
  int base_runs = 0;
  int next_runs = 0;

  // The reason why the test was not compared, empty if it was; and whether the
  // reason is that its numbers are false.
  std::string not_comparable;
  bool is_invalid = false;

  // Which group is simulated; see DescribeOrigins().
  std::string origins;

  // What limits the comparison.
  std::vector<std::string> notes;

  // Empty if a group does not have the test.
  std::vector<Circumstance> circumstances;
  std::vector<RpcComparison> rpcs;

  // Of whole runs: those that any run of either group has.
  std::vector<MetricComparison> metrics;

  // The codes of the warnings of the runs that were compared.
  std::map<std::string, RunCounts> warnings;

  // RPCs that only base has, so that what they lost cannot be judged.
  std::vector<std::string> vanished_rpcs;

  // By which the runs were repeated until they decided; absent if their number
  // was chosen beforehand.
  std::optional<stats::LookPlan> look_plan;
};

struct CompareOptions {
  // RPCs with a policy also have PolicyMetrics().
  std::vector<stats::Metric> metrics = stats::DefaultMetrics();

  // Compare even if the traffic differs, and add a note.
  bool allow_different_traffic = false;

  // Runs of unchanged tests, from which the noise floor is known.
  std::vector<TestRun> noise_runs = {};
};

// Returns a comparison for each test of either group. Runs with the same name
// are repetitions of a test. If each side has a single test, the two are
// compared whatever their names. Latencies and rates are judged by the
// confidence interval (stats/run_interval.h) of the ratio of geometric means
// over the runs: worse or better if the interval does not contain 1 and, for
// percentiles, the ratio exceeds kLatencyResolution. Metrics that products
// measure of whole runs (run_metrics.h) are judged in the same way, if all runs
// have them and mean the same by them.
std::vector<TestComparison> Compare(absl::Span<const TestRun> base,
                                    absl::Span<const TestRun> next,
                                    const CompareOptions& options);

// Formats comparisons for users: a table per RPC, with verdicts.
std::string DescribeComparisons(absl::Span<const TestComparison> comparisons);

// How many verdicts of each kind comparisons have.

struct VerdictCounts {
  // The metrics with this verdict.
  int& operator[](ComparisonVerdict verdict) {
    return metrics[static_cast<size_t>(verdict)];
  }
  int operator[](ComparisonVerdict verdict) const {
    return metrics[static_cast<size_t>(verdict)];
  }

  // Those that could be judged.
  int distributions = 0;
  int differing_distributions = 0;

  std::array<int, kComparisonVerdicts> metrics = {};

  // Metrics that could be judged.
  int judged() const {
    return (*this)[ComparisonVerdict::kBetter] +
           (*this)[ComparisonVerdict::kWorse] +
           (*this)[ComparisonVerdict::kDiffers] +
           (*this)[ComparisonVerdict::kNoDifference];
  }
};
VerdictCounts CountVerdicts(absl::Span<const TestComparison> comparisons);

// What readers of the comparisons should bear in mind, in sentences. The counts
// may include verdicts on more than these.
std::vector<std::string> Cautions(const VerdictCounts& counts,
                                  absl::Span<const TestComparison> comparisons);

// Formats compared metrics for users.

// "1.25ms", "315/s" or "0.100%".
std::string FormatValue(const stats::Metric& metric, double value);

// Formats a ratio as "x1.362", a difference of shares as "+0.100pp", and other
// differences as "+1.25ms".
std::string FormatChange(const MetricComparison& comparison, double change);

// "x1.068 to x1.736", or "-" without an interval.
std::string FormatInterval(const MetricComparison& comparison);

// "better", "worse", "differs", "no difference", "not shown" or "not
// comparable", as JSON and the Python package have them.
absl::string_view VerdictName(ComparisonVerdict verdict);

// What people read for such a name, or for that of another verdict: "no
// difference shown", since there may be one.
absl::string_view VerdictWords(absl::string_view verdict_name);

// Whether the change exceeds the noise floor, which must be known: a rise by x
// or a fall by x / (1 + x) for ratios.
bool IsBeyondNoise(const MetricComparison& comparison);

// A verdict as a phrase, with its reason, and the noise floor beside it.
std::string VerdictText(const MetricComparison& comparison);

}  // namespace distbench::report

#endif  // DISTBENCH_REPORT_COMPARISON_COMPARE_H_
