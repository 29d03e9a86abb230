// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

// What a node tells Prometheus of its traffic, over all of its tests.

#ifndef DISTBENCH_NODE_TRAFFIC_METRICS_H_
#define DISTBENCH_NODE_TRAFFIC_METRICS_H_

#include <prometheus/metric_family.h>

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/synchronization/mutex.h"
#include "distbench/metrics/rpc_traffic.h"
#include "distbench/stats/interval_series.h"
#include "proto/results.pb.h"
#include "proto/traffic_config.pb.h"

namespace distbench::node {

// Nothing begins anew with a test, as Prometheus expects of counters: an RPC of
// a test that runs again goes on where it was. Thread-safe.
class TrafficMetrics {
 public:
  // How many RPCs have metrics of their own. A further RPC replaces the one of
  // an earlier test that was counted longest ago. If there is no earlier test,
  // it is counted under kOtherNames.
  static constexpr size_t kMostRpcs = 100;

  // Adds what was measured of an RPC, which is in the totals as well.
  void AddRpc(const std::string& test, const std::string& rpc,
              const metrics::RpcTraffic& more) ABSL_LOCKS_EXCLUDED(mutex_);

  // Adds CPU time of the node manager and its engines during a test.
  void AddCpuSeconds(double more) ABSL_LOCKS_EXCLUDED(mutex_);

  void SetInFlight(int64_t count) ABSL_LOCKS_EXCLUDED(mutex_);

  std::vector<prometheus::MetricFamily> Collect() const
      ABSL_LOCKS_EXCLUDED(mutex_);

 private:
  using TestAndRpc = std::pair<std::string, std::string>;
  struct Counted {
    metrics::RpcTraffic traffic;
    int64_t last_use = 0;
  };

  Counted& Find(TestAndRpc key) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);

  // Returns false if all RPCs are of this test.
  bool ForgetOldestExceptOf(const std::string& test)
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);

  mutable absl::Mutex mutex_;
  stats::IntervalCounts totals_ ABSL_GUARDED_BY(mutex_);
  std::map<TestAndRpc, Counted> rpcs_ ABSL_GUARDED_BY(mutex_);
  int64_t uses_ ABSL_GUARDED_BY(mutex_) = 0;
  int64_t in_flight_count_ ABSL_GUARDED_BY(mutex_) = 0;
  double cpu_seconds_ ABSL_GUARDED_BY(mutex_) = 0;
};

// Counts the RPCs of one test for the metrics: those of a second when engines
// have told of it, and the rest, such as the last second, when their results
// have been collected. Thread-safe.
class CountedTraffic {
 public:
  // Does nothing if `metrics` is null. Both must outlive it.
  CountedTraffic(const DistributedSystemDescription& test,
                 TrafficMetrics* metrics);

  // What was measured since the last call, and how many RPCs are in flight.
  void CountRecent(const stats::SeriesByRpc& recent, int64_t in_flight_count)
      ABSL_LOCKS_EXCLUDED(mutex_);

  // What the node manager and its engines have used since the start.
  void CountCpu(const RUsage& used) ABSL_LOCKS_EXCLUDED(mutex_);

  // A piece of the results. After all pieces, or at the end of a test without
  // results, CountRest() counts what recent measurements did not contain.
  // Nothing is counted after that.
  void AddResults(const ResultChunk& chunk) ABSL_LOCKS_EXCLUDED(mutex_);
  void CountRest() ABSL_LOCKS_EXCLUDED(mutex_);

 private:
  void Count(int rpc, const metrics::RpcTraffic& more)
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);

  const DistributedSystemDescription& test_;
  const std::string name_;
  TrafficMetrics* const metrics_;

  absl::Mutex mutex_;
  std::map<int, metrics::RpcTraffic> counted_ ABSL_GUARDED_BY(mutex_);
  std::map<int, metrics::RpcTraffic> results_ ABSL_GUARDED_BY(mutex_);
  double cpu_seconds_ ABSL_GUARDED_BY(mutex_) = 0;
  bool is_over_ ABSL_GUARDED_BY(mutex_) = false;
};

}  // namespace distbench::node

#endif  // DISTBENCH_NODE_TRAFFIC_METRICS_H_
