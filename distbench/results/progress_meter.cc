// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

#include "distbench/results/progress_meter.h"

#include <algorithm>

#include "distbench/base/saturating_add.h"
#include "distbench/base/time_units.h"
#include "distbench/results/histogram_proto.h"

namespace distbench::results {

void ProgressMeter::Add(const TrafficProgress& report) {
  // Latencies that cannot be read are no reason to show nothing.
  AddHistogram(report.recent_service_time_ns(), service_time_ns_).IgnoreError();
  AddHistogram(report.recent_response_time_ns(), response_time_ns_)
      .IgnoreError();
  last_ = report;
  last_.clear_recent_service_time_ns();
  last_.clear_recent_response_time_ns();
}

void ProgressMeter::BeginInterval() {
  first_ = last_;
  service_time_ns_.Clear();
  response_time_ns_.Clear();
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
  return response_time_ns_.count() > 0 ? response_time_ns_ : service_time_ns_;
}

}  // namespace distbench::results
