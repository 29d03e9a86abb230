// The part of the compiler that compiles the policies of callers.

#include <optional>

#include "distbench/config/compile/compile_context.h"
#include "distbench/config/syntax/words.h"

namespace distbench::config {
namespace {

std::optional<RetryBudgetPlan> CompileBudget(bool has_budget,
                                             const RetryBudget& budget) {
  if (!has_budget) return std::nullopt;
  RetryBudgetPlan plan;
  plan.ratio = budget.ratio();
  plan.min_per_second = budget.min_per_second();
  if (budget.has_window_ns()) plan.window_ns = budget.window_ns();
  return plan;
}

RetryPlan CompileRetry(const RetryPolicy& retry) {
  RetryPlan plan;
  plan.max_attempts = retry.max_attempts();
  if (retry.has_initial_backoff_ns()) {
    plan.initial_backoff_ns = retry.initial_backoff_ns();
  }
  if (retry.has_max_backoff_ns()) plan.max_backoff_ns = retry.max_backoff_ns();
  plan.multiplier = retry.multiplier();
  plan.jitter = ParseJitter(retry.jitter()).value();
  plan.codes.assign(retry.codes().begin(), retry.codes().end());
  plan.budget = CompileBudget(retry.has_budget(), retry.budget());
  return plan;
}

HedgingPlan CompileHedging(const HedgingPolicy& hedging) {
  return {.max_attempts = hedging.max_attempts(),
          .delay_ns = hedging.delay_ns(),
          .percentile = hedging.percentile(),
          .budget = CompileBudget(hedging.has_budget(), hedging.budget())};
}

CircuitBreakerPlan CompileCircuitBreaker(const CircuitBreakerPolicy& breaker) {
  CircuitBreakerPlan plan;
  plan.failure_ratio = breaker.failure_ratio();
  plan.min_attempts = breaker.min_attempts();
  if (breaker.has_window_ns()) plan.window_ns = breaker.window_ns();
  if (breaker.has_open_ns()) plan.open_ns = breaker.open_ns();
  return plan;
}

ConcurrencyLimitPlan CompileLimit(const ConcurrencyLimitPolicy& limit) {
  return {.kind = ParseLimitKind(limit.kind()).value(),
          .limit = limit.limit(),
          .min_limit = limit.min_limit(),
          .max_limit = limit.max_limit(),
          .backoff_ratio = limit.backoff_ratio()};
}

}  // namespace

PolicyPlan CompilePolicy(const CallPolicy& policy) {
  PolicyPlan plan;
  if (policy.has_load_balancing()) {
    plan.load_balancing = ParseLoadBalancing(policy.load_balancing()).value();
  }
  if (policy.has_attempt_deadline_ns()) {
    plan.attempt_deadline_ns = policy.attempt_deadline_ns();
  }
  if (policy.has_retry()) plan.retry = CompileRetry(policy.retry());
  if (policy.has_hedging()) plan.hedging = CompileHedging(policy.hedging());
  if (policy.has_quorum()) {
    plan.quorum = {
        .answers = policy.quorum().answers(),
        .cancels_rest = ParseRestOfQuorum(policy.quorum().rest()).value()};
  }
  if (policy.has_circuit_breaker()) {
    plan.circuit_breaker = CompileCircuitBreaker(policy.circuit_breaker());
  }
  if (policy.has_concurrency_limit()) {
    plan.concurrency_limit = CompileLimit(policy.concurrency_limit());
  }
  return plan;
}

}  // namespace distbench::config
