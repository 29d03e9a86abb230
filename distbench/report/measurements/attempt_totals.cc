#include "distbench/report/measurements/attempt_totals.h"

#include <algorithm>

#include "distbench/base/saturating_add.h"
#include "distbench/results/histogram_proto.h"
#include "distbench/results/walk.h"

namespace distbench {
namespace {

struct AttemptCount {
  int64_t AttemptTotals::*total;
  int64_t (PolicyStatistics::*get)() const;
};

constexpr AttemptCount kAttemptCounts[] = {
    {&AttemptTotals::request_count, &PolicyStatistics::request_count},
    {&AttemptTotals::attempt_count, &PolicyStatistics::attempt_count},
    {&AttemptTotals::retry_count, &PolicyStatistics::retry_count},
    {&AttemptTotals::hedge_count, &PolicyStatistics::hedge_count},
    {&AttemptTotals::hedge_won_count, &PolicyStatistics::hedge_won_count},
    {&AttemptTotals::succeeded_attempt_count,
     &PolicyStatistics::succeeded_attempt_count},
    {&AttemptTotals::failed_attempt_count,
     &PolicyStatistics::failed_attempt_count},
    {&AttemptTotals::abandoned_attempt_count,
     &PolicyStatistics::abandoned_attempt_count},
    {&AttemptTotals::uncancelled_attempt_count,
     &PolicyStatistics::uncancelled_attempt_count},
    {&AttemptTotals::refused_by_budget_count,
     &PolicyStatistics::refused_by_budget_count},
    {&AttemptTotals::refused_by_circuit_breaker_count,
     &PolicyStatistics::refused_by_circuit_breaker_count},
    {&AttemptTotals::refused_by_limit_count,
     &PolicyStatistics::refused_by_limit_count},
    {&AttemptTotals::circuit_opened_count,
     &PolicyStatistics::circuit_opened_count},
    {&AttemptTotals::not_needed_count, &PolicyStatistics::not_needed_count},
    {&AttemptTotals::quorum_failed_count,
     &PolicyStatistics::quorum_failed_count}};

void AddLimits(const ValueMoments& moments, RunningMoments& total) {
  if (moments.count() <= 0) return;
  RunningMoments added;
  added.count = moments.count();
  added.min = moments.min();
  added.max = moments.max();
  added.sum = moments.sum();
  added.sum_of_squares = moments.sum_of_squares();
  total.Merge(added);
}

void AddAttempts(const PolicyStatistics& statistics, AttemptTotals& total) {
  for (const AttemptCount& count : kAttemptCounts) {
    SaturatingAddTo(total.*count.total,
                    std::max<int64_t>(0, (statistics.*count.get)()));
  }
  AddHistogram(statistics.quorum_time_ns(), total.quorum_time_ns).IgnoreError();
  AddHistogram(statistics.attempt_time_ns(), total.attempt_time_ns)
      .IgnoreError();
  AddLimits(statistics.concurrency_limit(), total.concurrency_limit);
}

}  // namespace

std::optional<AttemptTotals> AttemptsOf(const TestResult& result,
                                        const std::string& rpc) {
  std::optional<AttemptTotals> total;
  for (const auto& [client, log] : result.service_logs().instance_logs()) {
    for (const auto& [rpc_index, statistics] : log.policy_statistics()) {
      if (RpcName(result, rpc_index) != rpc) continue;
      if (!total) total.emplace();
      AddAttempts(statistics, *total);
    }
  }
  return total;
}

std::optional<double> Amplification(const AttemptTotals& attempts) {
  if (attempts.request_count == 0) return std::nullopt;
  return static_cast<double>(attempts.attempt_count) /
         static_cast<double>(attempts.request_count);
}

std::optional<double> WastedShare(const AttemptTotals& attempts,
                                  int64_t succeeded_count) {
  if (attempts.attempt_count == 0) return std::nullopt;
  // A lost process may have left counts that do not belong together.
  const int64_t used =
      std::min({succeeded_count, attempts.succeeded_attempt_count,
                attempts.attempt_count});
  return 1 - static_cast<double>(used) /
                 static_cast<double>(attempts.attempt_count);
}

}  // namespace distbench
