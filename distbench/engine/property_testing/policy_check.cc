#include "distbench/engine/property_testing/policy_check.h"

#include <cstdint>

#include "absl/strings/str_cat.h"
#include "distbench/results/rpc_totals.h"

namespace distbench::engine {
namespace {

// Requests that are in the statistics, without the warm-up.
int64_t EndedCount(const ServicePerformanceLog& log, int rpc) {
  int64_t count = 0;
  for (const auto& [peer, peer_log] : log.peer_logs()) {
    const auto found = peer_log.rpc_logs().find(rpc);
    if (found == peer_log.rpc_logs().end()) continue;
    count += found->second.statistics().succeeded_count() +
             found->second.statistics().failed_count();
  }
  return count;
}

std::vector<std::string> CheckAttempts(const PolicyStatistics& statistics,
                                       const config::PolicyPlan& plan,
                                       int64_t ended_count) {
  results::PolicyTotals totals;
  if (const absl::Status status = totals.Add(statistics); !status.ok()) {
    return {std::string(status.message())};
  }
  std::vector<std::string> problems;
  if (totals.attempt_count != totals.succeeded_attempt_count +
                                  totals.failed_attempt_count +
                                  totals.abandoned_attempt_count) {
    problems.push_back(absl::StrCat(
        totals.attempt_count,
        " attempts do not add up: ", totals.succeeded_attempt_count,
        " succeeded, ", totals.failed_attempt_count, " failed and ",
        totals.abandoned_attempt_count, " were abandoned"));
  }
  if (totals.request_count != ended_count + totals.not_needed_count) {
    problems.push_back(absl::StrCat(
        "of ", totals.request_count, " requests, ", ended_count,
        " have ended and ", totals.not_needed_count, " were not needed"));
  }
  const int64_t further = totals.retry_count + totals.hedge_count;
  if (totals.attempt_count > MostAttempts(plan) * totals.request_count ||
      further > totals.attempt_count ||
      totals.attempt_count - further > totals.request_count) {
    problems.push_back(absl::StrCat(
        totals.request_count, " requests have ", totals.attempt_count,
        " attempts, of which ", further, " are further ones"));
  }
  if (!plan.quorum.has_value() && totals.not_needed_count > 0) {
    problems.push_back("requests were not needed, but there is no quorum");
  }
  return problems;
}

}  // namespace

int MostAttempts(const config::PolicyPlan& plan) {
  if (plan.retry.has_value()) return plan.retry->max_attempts;
  return plan.hedging.has_value() ? plan.hedging->max_attempts : 1;
}

std::vector<std::string> CheckPolicies(const ServicePerformanceLog& log,
                                       const config::Plan& plan) {
  std::vector<std::string> problems;
  for (const auto& [rpc, statistics] : log.policy_statistics()) {
    for (const std::string& what : CheckAttempts(
             statistics, *plan.rpcs[rpc].policy, EndedCount(log, rpc))) {
      problems.push_back(absl::StrCat("RPC ", rpc, ": ", what));
    }
  }
  return problems;
}

}  // namespace distbench::engine
