// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

// The outcomes of requests in one order: latencies, and failures above all
// latencies.

#ifndef DISTBENCH_STATS_OUTCOMES_H_
#define DISTBENCH_STATS_OUTCOMES_H_

#include <cstdint>
#include <limits>

#include "distbench/stats/log_histogram.h"

namespace distbench::stats {

// Means and rates exclude failed requests. They are not trustworthy if more
// than this share failed, unless the user allows more.
inline constexpr double kAllowedFailures = 0.001;

class OutcomesView;

// Requests that failed, expired or were never sent rank above all that
// succeeded: a quantile whose rank falls among them is kFailed, not a latency.
// A service therefore does not look faster because it answers fewer requests.
// The time that failed requests had waited is not a latency, so it is not
// included.
struct Outcomes {
  // Above every latency. Only compared, never printed as a number.
  static constexpr int64_t kFailed = std::numeric_limits<int64_t>::max();

  LogHistogram latency_ns;    // requests that succeeded
  uint64_t failed_count = 0;  // all other requests

  uint64_t count() const { return latency_ns.count() + failed_count; }

  // From 0 to 1; 0 if there are no requests.
  double failed_share() const;

  void Merge(const OutcomesView& other);

  // Returns the outcome at position floor(count() * quantile) of the sorted
  // outcomes; latencies are as exact as in LogHistogram::ValueAtQuantile().
  // Requires count() > 0 and 0 <= quantile <= 1.
  int64_t ValueAtQuantile(double quantile) const;
};

// Outcomes whose latencies are kept elsewhere, and outlive the view.
class OutcomesView {
 public:
  OutcomesView(const LogHistogram& latency_ns, uint64_t failed_count = 0)
      : latency_ns_(&latency_ns), failed_count_(failed_count) {}
  OutcomesView(const Outcomes& outcomes)
      : OutcomesView(outcomes.latency_ns, outcomes.failed_count) {}

  const LogHistogram& latency_ns() const { return *latency_ns_; }
  uint64_t failed_count() const { return failed_count_; }
  uint64_t count() const { return latency_ns_->count() + failed_count_; }

  // As Outcomes::ValueAtQuantile().
  int64_t ValueAtQuantile(double quantile) const;

 private:
  const LogHistogram* latency_ns_;
  uint64_t failed_count_;
};

}  // namespace distbench::stats

#endif  // DISTBENCH_STATS_OUTCOMES_H_
