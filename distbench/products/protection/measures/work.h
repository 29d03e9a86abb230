// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

// What antagonists and subjects did over time, by their activities and RPCs.

#ifndef DISTBENCH_PRODUCTS_PROTECTION_MEASURES_WORK_H_
#define DISTBENCH_PRODUCTS_PROTECTION_MEASURES_WORK_H_

#include <cstdint>
#include <map>
#include <optional>
#include <vector>

#include "distbench/products/protection/measures/phases.h"
#include "distbench/products/protection/measures/value_distribution.h"
#include "distbench/stats/log_histogram.h"
#include "proto/results.pb.h"

namespace distbench::protection {

// The sum over instances in one interval; see ActivityInterval of the result.
struct WorkTotals {
  // Iterations of activities and, of an antagonist, RPCs.
  int64_t offered_count = 0;
  int64_t completed_count = 0;

  // Of activities, input and output; and of the RPCs' messages.
  int64_t bytes = 0;
  int64_t message_bytes = 0;
  stats::LogHistogram read_ns;
  stats::LogHistogram write_ns;
};

struct WorkSeries {
  // Width of an interval; 0 if nothing was recorded.
  int64_t interval_ns = 0;

  // Keyed by the number of the interval; only those with events.
  std::map<int64_t, WorkTotals> intervals;
};

enum class WorkRole { kSubject, kAntagonist };

// Adds up the activities of all instances of the subject, or of the antagonist
// and, if it sends RPCs, also those. Damaged series, and those whose intervals
// do not fit into those of others, are left out.
WorkSeries CollectWork(const TestResult& result, WorkRole role);

// Amounts per second.
struct WorkRate {
  double offered = 0;
  double completed = 0;
  double bytes = 0;
  double message_bytes = 0;
};

// The mean over the whole intervals of the span, silent ones included. Absent
// if nothing was recorded, or no interval lies within the span as a whole.
std::optional<WorkRate> MeanRate(const WorkSeries& series,
                                 const TimeSpan& span);

// The rate in the interval that contains the time. Absent if nothing was
// recorded at all.
std::optional<WorkRate> RateAt(const WorkSeries& series, int64_t time_ns);

// The latencies of reads, or of writes, in nanoseconds: the percentiles of each
// interval in which there were any, and their distribution over these.
struct NestedLatencies {
  ValueDistribution p50;
  ValueDistribution p90;
  ValueDistribution p99;
  ValueDistribution max;
};

// Adds up percentiles over runs: a series and its span of interest each.
class NestedLatencyList {
 public:
  void Add(const WorkSeries& series, const TimeSpan& span,
           stats::LogHistogram WorkTotals::*latency);

  NestedLatencies Distributions() const;

 private:
  std::vector<double> p50_;
  std::vector<double> p90_;
  std::vector<double> p99_;
  std::vector<double> max_;
};

}  // namespace distbench::protection

#endif  // DISTBENCH_PRODUCTS_PROTECTION_MEASURES_WORK_H_
