// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

// Metrics that runs are judged and compared by: what each is called, in which
// unit it is, and which of its values is better.

#ifndef DISTBENCH_STATS_METRIC_H_
#define DISTBENCH_STATS_METRIC_H_

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"

namespace distbench::stats {

// What the values of a metric are; a share is from 0 to 1.
enum class MetricUnit { kNs, kPerSecond, kRatio, kShare, kNumber, kBytes };

struct Metric {
  enum class Kind {
    kPercentile,  // latency percentile
    kMean,        // mean latency
    kRate,        // RPCs that succeeded, per second
    kFailures,    // share of the RPCs that failed
    kGoodput,     // RPCs that succeeded in time, per second

    // Only of RPCs with a policy: attempts per request, the share of the
    // attempts that were for nothing, and percentiles of the times of single
    // attempts, and until a quorum was complete.
    kAmplification,
    kWasted,
    kAttempt,
    kQuorum,

    // Percentiles of the times of messages, only of RPCs that stream.
    kFirstMessage,
    kGap,
    kRoundTrip,

    // CPU time of the busiest host, as a share of all its CPUs.
    kCpu,

    // What the subject of an experiment kept (docs/measuring.md, "Protection"),
    // over the seconds beside its antagonist: its goodput, as a share of its
    // baseline's; and by which share its p95 exceeded its baseline's.
    kIsolation,
    kLatencyImpact,

    // A figure of something else, which the test has nodes read: an entry of
    // server_metrics.
    kServerMetric,
  };

  Kind kind;

  // Of percentiles, above 0 and below 100; 0 is the mean of the seconds for
  // kIsolation and kLatencyImpact, and means nothing for other kinds.
  double percent = 0;

  // Only of kServerMetric: the name of the entry, and what its values are.
  std::string name = {};
  MetricUnit unit = MetricUnit::kNumber;

  friend bool operator==(const Metric&, const Metric&) = default;
};

// Returns a name such as "p99.9", "mean", "rate", "gap_p99", "isol_mean" or
// "metric:cpu".
std::string MetricName(const Metric& metric);

// Returns the metric with this name; the unit of a server metric is for others
// to say. INVALID_ARGUMENT lists the valid names.
absl::StatusOr<Metric> ParseMetric(absl::string_view name);

// The metrics that every comparison shows.
std::vector<Metric> DefaultMetrics();

// Those that comparisons show in addition of RPCs with a policy.
std::vector<Metric> PolicyMetrics();

// Whether it is a percentile, of whatever values.
bool IsPercentile(const Metric& metric);

// Whether it is a percentile or the mean of the RPCs' latencies.
bool IsLatency(const Metric& metric);

// Whether it is of the messages of streams.
bool IsOfStream(const Metric& metric);

bool IsIsolation(const Metric& metric);

// Whether it is measured of an RPC, which CPU, isolation and server metrics are
// not.
bool IsOfRpc(const Metric& metric);

MetricUnit UnitOf(const Metric& metric);

// Returns "ns", "per_second", "ratio", "share", "number" or "bytes", as
// documents have it.
absl::string_view UnitName(MetricUnit unit);

// Whether either direction is better, which is not known of server metrics.
bool HasBetter(const Metric& metric);

// True for amounts per second and the goodput that is kept; for all other
// metrics that have a better direction, lower is better.
bool HigherIsBetter(const Metric& metric);

// Shares, which are often 0, are compared by their difference, everything else
// by its ratio.
bool IsComparedByRatio(const Metric& metric);

}  // namespace distbench::stats

#endif  // DISTBENCH_STATS_METRIC_H_
