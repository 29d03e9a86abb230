// PolicyStatistics in unpacked form, in which results are added up.

#ifndef DISTBENCH_RESULTS_POLICY_TOTALS_H_
#define DISTBENCH_RESULTS_POLICY_TOTALS_H_

#include <cstdint>

#include "absl/status/status.h"
#include "distbench/stats/log_histogram.h"
#include "distbench/stats/running_moments.h"
#include "proto/results.pb.h"

namespace distbench::results {

// PolicyStatistics documents the members. Counts saturate at the maximum of an
// int64. Copyable.
struct PolicyTotals {
  void Merge(const PolicyTotals& other);

  // Adds further statistics. INVALID_ARGUMENT, and adds nothing, if a count is
  // negative, or a histogram or the moments are inconsistent.
  absl::Status Add(const PolicyStatistics& statistics);

  // Replaces the content of `statistics`.
  void Encode(PolicyStatistics& statistics) const;

  int64_t request_count = 0;
  int64_t attempt_count = 0;
  int64_t retry_count = 0;
  int64_t hedge_count = 0;
  int64_t hedge_won_count = 0;
  int64_t succeeded_attempt_count = 0;
  int64_t failed_attempt_count = 0;
  int64_t abandoned_attempt_count = 0;
  int64_t uncancelled_attempt_count = 0;
  int64_t refused_by_budget_count = 0;
  int64_t refused_by_circuit_breaker_count = 0;
  int64_t refused_by_limit_count = 0;
  int64_t circuit_opened_count = 0;
  int64_t not_needed_count = 0;
  int64_t quorum_failed_count = 0;
  stats::LogHistogram quorum_time_ns;
  stats::LogHistogram attempt_time_ns;
  stats::RunningMoments concurrency_limit;
};

// Adds `from` to `into`. The error is as of PolicyTotals::Add().
absl::Status MergePolicyStatistics(const PolicyStatistics& from,
                                   PolicyStatistics& into);

}  // namespace distbench::results

#endif  // DISTBENCH_RESULTS_POLICY_TOTALS_H_
