// The compiled form of CallPolicy: what the caller of an RPC does about slow,
// failed and superfluous calls. traffic_config.proto documents the members.

#ifndef DISTBENCH_CONFIG_PLAN_POLICY_PLAN_H_
#define DISTBENCH_CONFIG_PLAN_POLICY_PLAN_H_

#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <vector>

namespace distbench::config {

enum class LoadBalancing { kRoundRobin, kRandom, kTwoChoices, kLeastInFlight };

struct RetryBudgetPlan {
  double ratio = 0.1;
  double min_per_second = 10;
  int64_t window_ns = 10'000'000'000;
};

struct RetryPlan {
  enum class Jitter { kFull, kEqual, kNone };

  int64_t initial_backoff_ns = 10'000'000;
  int64_t max_backoff_ns = 1'000'000'000;
  double multiplier = 2;
  Jitter jitter = Jitter::kFull;
  std::vector<std::string> codes;  // empty: all but the caller's own refusals
};

struct HedgingPlan {
  int64_t delay_ns = 0;
  double percentile = 0;  // replaces delay_ns unless 0
};

struct QuorumPlan {
  int answers = 1;
  bool cancels_rest = true;
};

struct CircuitBreakerPlan {
  double failure_ratio = 0.5;
  int min_attempts = 20;
  int64_t window_ns = 10'000'000'000;
  int64_t open_ns = 5'000'000'000;
};

struct ConcurrencyLimitPlan {
  enum class Kind { kFixed, kAimd, kGradient };

  Kind kind = Kind::kFixed;
  int limit = 20;
  int min_limit = 1;
  int max_limit = 1000;
  double backoff_ratio = 0.9;
};

struct PolicyPlan {
  std::optional<LoadBalancing> load_balancing;
  int64_t attempt_deadline_ns = std::numeric_limits<int64_t>::max();  // none

  // Of a request, with the first one; further ones are those of `retry` or
  // `hedging`, of which there is at most one.
  int max_attempts = 1;
  std::optional<RetryPlan> retry;
  std::optional<HedgingPlan> hedging;
  std::optional<RetryBudgetPlan> budget;

  std::optional<QuorumPlan> quorum;
  std::optional<CircuitBreakerPlan> circuit_breaker;
  std::optional<ConcurrencyLimitPlan> concurrency_limit;
};

}  // namespace distbench::config

#endif  // DISTBENCH_CONFIG_PLAN_POLICY_PLAN_H_
