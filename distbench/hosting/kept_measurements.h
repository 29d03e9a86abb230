// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

// The measurements that survive the loss of an engine's process.

#ifndef DISTBENCH_HOSTING_KEPT_MEASUREMENTS_H_
#define DISTBENCH_HOSTING_KEPT_MEASUREMENTS_H_

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "absl/functional/function_ref.h"
#include "absl/strings/string_view.h"
#include "distbench/results/rpc_totals.h"
#include "distbench/stats/interval_series.h"
#include "proto/results.pb.h"

namespace distbench::hosting {

// Accumulates what an engine reports while it runs: series over time, and
// totals of each RPC over all servers. The end of the warm-up is known only to
// the second: RPCs that ended in a second in which warm-up RPCs ended are in
// the series only. Not thread-safe.
class KeptMeasurements {
 public:
  // memory_bytes: the budget of the series, whose intervals are widened to stay
  // within it.
  explicit KeptMeasurements(int64_t memory_bytes)
      : memory_bytes_(memory_bytes) {}

  // Adds new measurements, in steps of kSeriesStepNs.
  void Add(const stats::SeriesByRpc& recent);

  // The Unix time of the end of the last second with measurements; 0 if there
  // was none.
  int64_t end_timestamp_ns() const { return end_timestamp_ns_; }

  // Emits the log of the instance.
  void Emit(absl::string_view instance,
            absl::FunctionRef<void(ResultChunk chunk)> emit) const;

 private:
  void Count(int rpc, const stats::IntervalSeries::View& second);

  const int64_t memory_bytes_;
  stats::SeriesByRpc series_;
  std::vector<stats::IntervalSeries*> all_series_;
  int64_t width_ = 1;  // interval width of series_, in steps
  std::map<int, results::RpcTotals> totals_;
  int64_t end_timestamp_ns_ = 0;
};

}  // namespace distbench::hosting

#endif  // DISTBENCH_HOSTING_KEPT_MEASUREMENTS_H_
