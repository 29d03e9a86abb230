// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

// The metrics of RPCs, the same while a test runs and for its result.

#ifndef DISTBENCH_METRICS_RPC_TRAFFIC_H_
#define DISTBENCH_METRICS_RPC_TRAFFIC_H_

#include <prometheus/metric_family.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "distbench/metrics/openmetrics.h"
#include "distbench/stats/interval_series.h"
#include "distbench/stats/log_histogram.h"

namespace distbench::metrics {

// Upper bounds of the buckets of latencies, in nanoseconds: 1, 2 and 5 of each
// decade, from 10 us to 10 s. A last bucket has what takes longer.
inline constexpr std::array<int64_t, 19> kLatencyBoundsNs = {
    10'000,        20'000,        50'000,        100'000,       200'000,
    500'000,       1'000'000,     2'000'000,     5'000'000,     10'000'000,
    20'000'000,    50'000'000,    100'000'000,   200'000'000,   500'000'000,
    1'000'000'000, 2'000'000'000, 5'000'000'000, 10'000'000'000};

// How many latencies are in each bucket.
struct BucketedLatencies {
  // Values in the same bucket of the histogram as a bound count as not above
  // it: they exceed it by less than 0.8 %.
  void Add(const stats::LogHistogram& latencies_ns);
  void Add(const BucketedLatencies& other);
  void Subtract(const BucketedLatencies& other);

  uint64_t count() const;

  std::array<uint64_t, kLatencyBoundsNs.size() + 1> counts = {};
  double sum_ns = 0;
};

// What is counted of an RPC.
struct RpcTraffic {
  void Add(const stats::IntervalSeries& series);
  void Add(const RpcTraffic& other);

  // Nothing becomes less than 0.
  void Subtract(const RpcTraffic& other);

  stats::IntervalCounts counts;
  BucketedLatencies service_time;
  BucketedLatencies response_time;  // of open loops
};

struct LabelledTraffic {
  Labels labels;
  RpcTraffic traffic;
};

// The families distbench_rpc_*, which docs/metrics.md explains.
std::vector<prometheus::MetricFamily> RpcFamilies(
    const std::vector<LabelledTraffic>& rpcs);

}  // namespace distbench::metrics

#endif  // DISTBENCH_METRICS_RPC_TRAFFIC_H_
