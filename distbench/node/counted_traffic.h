#ifndef DISTBENCH_NODE_COUNTED_TRAFFIC_H_
#define DISTBENCH_NODE_COUNTED_TRAFFIC_H_

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/synchronization/mutex.h"
#include "distbench/metrics/rpc_traffic.h"
#include "distbench/node/traffic_metrics.h"
#include "distbench/stats/interval_series.h"
#include "proto/results.pb.h"
#include "proto/traffic_config.pb.h"

namespace distbench::node {

// Counts the RPCs of one test for the metrics: those of a second when engines
// have told of it, and the rest, such as the last second, when their results
// have been collected. Thread-safe.
class CountedTraffic {
 public:
  // Does nothing if `metrics` is null. Otherwise they must outlive it.
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

  std::string test_;
  std::vector<std::string> rpc_names_;
  TrafficMetrics* const metrics_;

  absl::Mutex mutex_;
  std::map<int, metrics::RpcTraffic> counted_ ABSL_GUARDED_BY(mutex_);
  std::map<int, metrics::RpcTraffic> results_ ABSL_GUARDED_BY(mutex_);
  double cpu_seconds_ ABSL_GUARDED_BY(mutex_) = 0;
  bool is_over_ ABSL_GUARDED_BY(mutex_) = false;
};

}  // namespace distbench::node

#endif  // DISTBENCH_NODE_COUNTED_TRAFFIC_H_
