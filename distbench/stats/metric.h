// Metrics used to compare runs.

#ifndef DISTBENCH_STATS_METRIC_H_
#define DISTBENCH_STATS_METRIC_H_

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"

namespace distbench::stats {

struct Metric {
  enum class Kind {
    kPercentile,  // latency percentile
    kMean,        // mean latency
    kRate,        // RPCs that succeeded, per second
    kFailures,    // share of the RPCs that failed
    kGoodput,     // RPCs that succeeded in time, per second

    // Only of RPCs with a policy.
    kAmplification,  // attempts per request
    kWasted,         // share of the attempts that were for nothing
  };

  Kind kind;
  double percent = 0;  // kPercentile only

  friend bool operator==(const Metric&, const Metric&) = default;
};

// Returns "p99.9", "mean", "rate", "failures", "goodput", "amplification" or
// "wasted".
std::string MetricName(const Metric& metric);

// Returns the metric with this name. INVALID_ARGUMENT lists the valid names.
absl::StatusOr<Metric> ParseMetric(absl::string_view name);

// The metrics that every comparison shows.
std::vector<Metric> DefaultMetrics();

// Those that comparisons show in addition of RPCs with a policy.
std::vector<Metric> PolicyMetrics();

// What the values of a metric are; a share is from 0 to 1.
enum class MetricUnit { kNs, kPerSecond, kRatio, kShare };
MetricUnit UnitOf(const Metric& metric);

// Returns "ns", "per_second", "ratio" or "share", as documents have it.
absl::string_view UnitName(MetricUnit unit);

// True for amounts per second; for all other metrics, lower is better.
bool HigherIsBetter(const Metric& metric);

// Shares, which are often 0, are compared by their difference, everything else
// by its ratio.
bool IsComparedByRatio(const Metric& metric);

}  // namespace distbench::stats

#endif  // DISTBENCH_STATS_METRIC_H_
