// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

// What a running test does now, from its reports of progress: one computation
// for all that shows it.

#ifndef DISTBENCH_RESULTS_PROGRESS_METER_H_
#define DISTBENCH_RESULTS_PROGRESS_METER_H_

#include <cstdint>

#include "distbench/stats/log_histogram.h"
#include "proto/control.pb.h"

namespace distbench::results {

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

  // Response times where there are open loops, otherwise service times.
  const stats::LogHistogram& latency_ns() const;

 private:
  // Only their counts and times.
  TrafficProgress first_;
  TrafficProgress last_;

  stats::LogHistogram service_time_ns_;
  stats::LogHistogram response_time_ns_;
};

}  // namespace distbench::results

#endif  // DISTBENCH_RESULTS_PROGRESS_METER_H_
