// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

// What a running test does now, from its reports of progress: one computation
// for all that shows it.

#ifndef DISTBENCH_RESULTS_PROGRESS_METER_H_
#define DISTBENCH_RESULTS_PROGRESS_METER_H_

#include <cstdint>
#include <map>
#include <optional>
#include <string>

#include "distbench/results/recent_traffic.h"
#include "distbench/stats/log_histogram.h"
#include "proto/control.pb.h"

namespace distbench::results {

// The latencies of RPCs, of which some failed: those count as longer than any
// other, as everywhere.
struct LatenciesWithFailures {
  // In nanoseconds: at most this long took `quantile` of the RPCs. Infinite if
  // too many failed; absent if none ended.
  std::optional<double> Percentile(double quantile) const;

  // For people, such as "p99 1.23 ms" or "p99 failed"; empty if none ended.
  std::string PercentileText(double percent) const;

  const stats::LogHistogram& succeeded_ns;
  double failed_share = 0;
};

// The RPCs of an interval of a test's traffic, which begins and ends with a
// report. Not thread-safe.
class ProgressMeter {
 public:
  // The first interval begins with the test.
  ProgressMeter() = default;

  // Extends the interval to this report, which comes after the others.
  void Add(const TrafficProgress& report);

  // The next interval begins with the last report.
  void BeginInterval();

  // The traffic's time in the interval; 0 if nothing was counted in it. Counts
  // are up to seconds old when they arrive, so that the time between arrivals
  // would give false rates.
  int64_t time_ns() const;

  // How much a count of TrafficProgress grew in the interval, per second; 0 if
  // time_ns() is.
  using Count = int64_t (TrafficProgress::*)() const;
  double PerSecond(Count count) const;

  // Valid until the next Add(). Response times of open loops where there are
  // some, otherwise service times of all.
  LatenciesWithFailures latencies() const;
  bool has_response_times() const;

  // One RPC in the interval. What has ended of each arrives up to a second
  // after the counts of all, in whole seconds; rates are therefore those of all
  // RPCs, divided as those that have arrived are.
  struct Rpc {
    double succeeded_per_second = 0;
    double failed_per_second = 0;
    LatenciesWithFailures latencies;  // valid until the next Add()
  };

  // By name, those of which something ended. Empty if RPCs are not told apart;
  // see RecentTraffic.
  std::map<std::string, Rpc> rpcs() const;

 private:
  // Only their counts and times.
  TrafficProgress first_;
  TrafficProgress last_;

  RecentTraffic recent_;
};

}  // namespace distbench::results

#endif  // DISTBENCH_RESULTS_PROGRESS_METER_H_
