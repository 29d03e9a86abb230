#include "distbench/report/measurements/attempt_totals.h"

#include <algorithm>

#include "distbench/results/walk.h"

namespace distbench::report {

std::optional<results::PolicyTotals> AttemptsOf(const TestResult& result,
                                                const std::string& rpc) {
  std::optional<results::PolicyTotals> total;
  for (const auto& [client, log] : result.service_logs().instance_logs()) {
    for (const auto& [rpc_index, statistics] : log.policy_statistics()) {
      if (results::RpcName(result, rpc_index) != rpc) continue;
      if (!total) total.emplace();
      total->Add(statistics).IgnoreError();
    }
  }
  return total;
}

std::optional<double> Amplification(const results::PolicyTotals& attempts) {
  if (attempts.request_count == 0) return std::nullopt;
  return static_cast<double>(attempts.attempt_count) /
         static_cast<double>(attempts.request_count);
}

std::optional<double> WastedShare(const results::PolicyTotals& attempts,
                                  int64_t succeeded_count) {
  if (attempts.attempt_count == 0) return std::nullopt;
  // A lost process may have left counts that do not belong together.
  const int64_t used =
      std::min({succeeded_count, attempts.succeeded_attempt_count,
                attempts.attempt_count});
  return 1 - static_cast<double>(used) /
                 static_cast<double>(attempts.attempt_count);
}

}  // namespace distbench::report
