// The attempts of RPCs with a policy (CallPolicy), over all clients.
//
//   PolicyStatistics of each client ──AttemptsOf──▶ AttemptTotals
//     ──Amplification, WastedShare──▶ text, tables, objectives, comparisons

#ifndef DISTBENCH_REPORT_MEASUREMENTS_ATTEMPT_TOTALS_H_
#define DISTBENCH_REPORT_MEASUREMENTS_ATTEMPT_TOTALS_H_

#include <cstdint>
#include <optional>
#include <string>

#include "distbench/stats/log_histogram.h"
#include "distbench/stats/running_moments.h"
#include "proto/results.pb.h"

namespace distbench {

// PolicyStatistics documents the members. Counts saturate.
struct AttemptTotals {
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
  LogHistogram quorum_time_ns;
  LogHistogram attempt_time_ns;
  RunningMoments concurrency_limit;
};

// Returns the attempts of an RPC over all its clients; nothing if it has no
// policy. Negative counts and damaged histograms are left out.
std::optional<AttemptTotals> AttemptsOf(const TestResult& result,
                                        const std::string& rpc);

// Returns the attempts per request; nothing if no request ended.
std::optional<double> Amplification(const AttemptTotals& attempts);

// Returns which share of the attempts was for nothing: those that failed, that
// the caller gave up, or that succeeded after the request had its outcome.
// Nothing if there were no attempts. `succeeded_count`: of the requests.
std::optional<double> WastedShare(const AttemptTotals& attempts,
                                  int64_t succeeded_count);

}  // namespace distbench

#endif  // DISTBENCH_REPORT_MEASUREMENTS_ATTEMPT_TOTALS_H_
