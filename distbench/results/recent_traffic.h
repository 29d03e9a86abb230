// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

#ifndef DISTBENCH_RESULTS_RECENT_TRAFFIC_H_
#define DISTBENCH_RESULTS_RECENT_TRAFFIC_H_

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>

#include "distbench/stats/interval_series.h"
#include "distbench/stats/log_histogram.h"
#include "proto/control.pb.h"
#include "proto/traffic_config.pb.h"

namespace distbench::results {

// What a running test has measured lately, without its warm-up: a node adds up
// what its engines tell, the sequencer what nodes tell, and who shows it what
// has come since it was shown last. Not thread-safe.
class RecentTraffic {
 public:
  // RPCs are told apart if a test has several, but no more than this: reports
  // come every second, from each node.
  static constexpr size_t kMostRpcs = 32;

  struct Times {
    // Response times where there are open loops, otherwise service times.
    const stats::LogHistogram& latency_ns() const;

    stats::LogHistogram service_ns;
    stats::LogHistogram response_ns;
  };

  struct Rpc {
    int64_t succeeded_count = 0;
    int64_t failed_count = 0;
    Times times;
  };

  // What engines of this test have measured.
  void Add(const DistributedSystemDescription& test,
           const stats::SeriesByRpc& measured);

  // What a node or the sequencer has reported. Leaves out invalid times, and
  // RPCs beyond kMostRpcs.
  void Add(const TrafficProgress& report);

  // Moves all into the fields of `report` that begin with "recent"; those that
  // nothing is known of stay absent.
  void TakeInto(TrafficProgress& report);

  void Clear() { *this = RecentTraffic(); }

  const Times& times() const { return times_; }

  // By name. Empty if RPCs are not told apart.
  const std::map<std::string, Rpc>& rpcs() const { return rpcs_; }

 private:
  // Null for a new RPC beyond kMostRpcs.
  Rpc* Find(const std::string& name);

  Times times_;
  std::map<std::string, Rpc> rpcs_;
};

}  // namespace distbench::results

#endif  // DISTBENCH_RESULTS_RECENT_TRAFFIC_H_
