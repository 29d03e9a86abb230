// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

#include "distbench/results/progress_meter.h"

#include <algorithm>

#include "distbench/base/saturating_add.h"
#include "distbench/base/time_units.h"

namespace distbench::results {

void ProgressMeter::Add(const TrafficProgress& report) {
  recent_.Add(report);
  last_ = report;
  last_.clear_recent_service_time_ns();
  last_.clear_recent_response_time_ns();
  last_.clear_recent_rpcs();
}

void ProgressMeter::BeginInterval() {
  first_ = last_;
  recent_.Clear();
}

int64_t ProgressMeter::time_ns() const {
  return std::max<int64_t>(0,
                           base::SaturatingSubtract(last_.traffic_time_ns(),
                                                    first_.traffic_time_ns()));
}

double ProgressMeter::PerSecond(Count count) const {
  if (time_ns() == 0) return 0;
  return static_cast<double>(
             base::SaturatingSubtract((last_.*count)(), (first_.*count)())) /
         base::ToSeconds(time_ns());
}

const stats::LogHistogram& ProgressMeter::latency_ns() const {
  return recent_.times().latency_ns();
}

std::map<std::string, ProgressMeter::Rpc> ProgressMeter::rpcs() const {
  // As numbers that cannot overflow.
  double succeeded = 0;
  double failed = 0;
  for (const auto& [name, rpc] : recent_.rpcs()) {
    succeeded += static_cast<double>(rpc.succeeded_count);
    failed += static_cast<double>(rpc.failed_count);
  }
  const auto part_of = [](double rate, int64_t count, double of) {
    return count == 0 ? 0 : rate * (static_cast<double>(count) / of);
  };
  const double succeeded_rate = PerSecond(&TrafficProgress::succeeded_count);
  const double failed_rate = PerSecond(&TrafficProgress::failed_count);
  std::map<std::string, Rpc> rpcs;
  for (const auto& [name, rpc] : recent_.rpcs()) {
    rpcs.try_emplace(
        name,
        Rpc{.succeeded_per_second =
                part_of(succeeded_rate, rpc.succeeded_count, succeeded),
            .failed_per_second = part_of(failed_rate, rpc.failed_count, failed),
            .latency_ns = rpc.times.latency_ns()});
  }
  return rpcs;
}

}  // namespace distbench::results
