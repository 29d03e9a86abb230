// The part of the compiler that compiles the policies of callers.

#include "distbench/config/compile/compile_context.h"
#include "distbench/config/rules/field_rules.h"

namespace distbench::config {
namespace {

RetryPlan CompileRetry(const RetryPolicy& retry) {
  return {.initial_backoff_ns = retry.initial_backoff_ns(),
          .max_backoff_ns = retry.max_backoff_ns(),
          .multiplier = retry.multiplier(),
          .jitter = static_cast<RetryPlan::Jitter>(
              WordNumber(retry, RetryPolicy::kJitterFieldNumber)),
          .codes = {retry.codes().begin(), retry.codes().end()}};
}

// What retries and hedging have in common.
template <typename Policy>
void SetAttempts(const Policy& policy, PolicyPlan& plan) {
  plan.max_attempts = policy.max_attempts();
  if (!policy.has_budget()) return;
  const RetryBudget& budget = policy.budget();
  plan.budget = {.ratio = budget.ratio(),
                 .min_per_second = budget.min_per_second(),
                 .window_ns = budget.window_ns()};
}

CircuitBreakerPlan CompileCircuitBreaker(const CircuitBreakerPolicy& breaker) {
  return {.failure_ratio = breaker.failure_ratio(),
          .min_attempts = breaker.min_attempts(),
          .window_ns = breaker.window_ns(),
          .open_ns = breaker.open_ns()};
}

ConcurrencyLimitPlan CompileLimit(const ConcurrencyLimitPolicy& limit) {
  return {.kind = static_cast<ConcurrencyLimitPlan::Kind>(
              WordNumber(limit, ConcurrencyLimitPolicy::kKindFieldNumber)),
          .limit = limit.limit(),
          .min_limit = limit.min_limit(),
          .max_limit = limit.max_limit(),
          .backoff_ratio = limit.backoff_ratio()};
}

}  // namespace

PolicyPlan CompilePolicy(const CallPolicy& policy) {
  PolicyPlan plan;
  if (!policy.load_balancing().empty()) {
    plan.load_balancing = static_cast<LoadBalancing>(
        WordNumber(policy, CallPolicy::kLoadBalancingFieldNumber));
  }
  if (policy.has_attempt_deadline_ns()) {
    plan.attempt_deadline_ns = policy.attempt_deadline_ns();
  }
  if (policy.has_retry()) {
    plan.retry = CompileRetry(policy.retry());
    SetAttempts(policy.retry(), plan);
  }
  if (policy.has_hedging()) {
    plan.hedging = {.delay_ns = policy.hedging().delay_ns(),
                    .percentile = policy.hedging().percentile()};
    SetAttempts(policy.hedging(), plan);
  }
  if (policy.has_quorum()) {
    plan.quorum = {.answers = policy.quorum().answers(),
                   .cancels_rest = policy.quorum().rest() != "ignore"};
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
