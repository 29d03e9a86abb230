// Metrics used to compare runs.

#ifndef DISTBENCH_STATS_METRIC_H_
#define DISTBENCH_STATS_METRIC_H_

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"

namespace distbench {

struct Metric {
  enum class Kind {
    kPercentile,  // latency percentile
    kMean,        // mean latency
    kRate,        // RPCs that succeeded, per second
    kFailures,    // share of the RPCs that failed
  };

  Kind kind;
  double percent = 0;  // kPercentile only

  friend bool operator==(const Metric&, const Metric&) = default;
};

// Returns "p99.9", "mean", "rate" or "failures".
std::string MetricName(const Metric& metric);

// Returns the metric with this name. INVALID_ARGUMENT lists the valid names.
absl::StatusOr<Metric> ParseMetric(absl::string_view name);

// The metrics that every comparison shows.
std::vector<Metric> DefaultMetrics();

// True for rates only; for all other metrics, lower is better.
bool HigherIsBetter(const Metric& metric);

// Latencies and rates are compared by their ratio; shares of failures, which
// are often 0, by their difference.
bool IsComparedByRatio(const Metric& metric);

}  // namespace distbench

#endif  // DISTBENCH_STATS_METRIC_H_
