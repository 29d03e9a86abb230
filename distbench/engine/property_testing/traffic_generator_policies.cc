// The policies of callers of the traffic generator.

#include <cstdint>
#include <string>

#include "distbench/engine/property_testing/traffic_generator.h"

namespace distbench::engine {
namespace {

// Attempts of a request: few, because they multiply the work.
constexpr int64_t kMostAttempts = 3;

void FillBudget(fuzzing::RandomSource& random, RetryBudget& budget) {
  if (random.Chance(0.5)) budget.set_ratio(random.OneOf({0.0, 0.1, 1.0}));
  if (random.Chance(0.5)) {
    budget.set_min_per_second(random.OneOf({0.0, 0.5, 100.0}));
  }
  if (random.Chance(0.5)) {
    budget.set_window_ns(random.OneOf<int64_t>({1, 1'000'000'000}));
  }
}

void FillRetry(fuzzing::RandomSource& random, RetryPolicy& retry) {
  retry.set_max_attempts(
      static_cast<int32_t>(random.Between(2, kMostAttempts)));
  if (random.Chance(0.7)) {
    retry.set_initial_backoff_ns(random.OneOf<int64_t>({0, 1, 5'000'000}));
  }
  if (random.Chance(0.5)) {
    retry.set_max_backoff_ns(
        random.OneOf<int64_t>({10'000'000, 2'000'000'000}));
  }
  if (random.Chance(0.3)) retry.set_multiplier(random.OneOf({1.0, 1.5, 3.0}));
  if (random.Chance(0.5)) {
    retry.set_jitter(random.OneOf<std::string>({"none", "equal", "full", ""}));
  }
  if (random.Chance(0.3)) {
    retry.add_codes("DEADLINE_EXCEEDED");
    retry.add_codes("RESOURCE_EXHAUSTED");
  }
  if (random.Chance(0.4)) FillBudget(random, *retry.mutable_budget());
}

void FillHedging(fuzzing::RandomSource& random, HedgingPolicy& hedging) {
  hedging.set_max_attempts(
      static_cast<int32_t>(random.Between(2, kMostAttempts)));
  if (random.Chance(0.6)) {
    hedging.set_delay_ns(random.OneOf<int64_t>({0, 1, 2'000'000}));
  } else {
    hedging.set_percentile(random.OneOf({1.0, 50.0, 99.9}));
  }
  if (random.Chance(0.3)) FillBudget(random, *hedging.mutable_budget());
}

void FillCircuitBreaker(fuzzing::RandomSource& random,
                        CircuitBreakerPolicy& breaker) {
  if (random.Chance(0.7)) breaker.set_failure_ratio(random.OneOf({0.01, 1.0}));
  breaker.set_min_attempts(static_cast<int32_t>(random.Between(1, 5)));
  if (random.Chance(0.5)) {
    breaker.set_window_ns(random.OneOf<int64_t>({1, 1'000'000'000}));
  }
  if (random.Chance(0.5)) {
    breaker.set_open_ns(random.OneOf<int64_t>({1, 3'000'000}));
  }
}

void FillLimit(fuzzing::RandomSource& random, ConcurrencyLimitPolicy& limit) {
  limit.set_limit(static_cast<int32_t>(random.Between(1, 5)));
  if (random.Chance(0.3)) return;
  limit.set_kind(random.OneOf<std::string>({"aimd", "gradient"}));
  if (random.Chance(0.5)) limit.set_min_limit(1);
  if (random.Chance(0.5)) limit.set_max_limit(10);
  if (limit.kind() == "aimd") limit.set_backoff_ratio(0.5);
}

}  // namespace

void TrafficGenerator::AddPolicy(RpcSpec& rpc) {
  CallPolicy& policy = *rpc.mutable_policy();
  if (random_.Chance(0.3)) {
    rpc.clear_fanout_filter();
    policy.set_load_balancing(random_.OneOf<std::string>(
        {"round_robin", "random", "two_choices", "least_in_flight"}));
  } else if (InstanceCount(ServiceNumber(rpc.server())) > 1 &&
             random_.Chance(0.5)) {
    rpc.clear_fanout_filter();
    QuorumPolicy& quorum = *policy.mutable_quorum();
    quorum.set_answers(1);
    if (random_.Chance(0.6)) {
      quorum.set_rest(random_.OneOf<std::string>({"ignore", "cancel"}));
    }
  }
  if (random_.Chance(0.3)) {
    policy.set_attempt_deadline_ns(random_.OneOf<int64_t>({1, 3'000'000}));
  }
  if (random_.Chance(0.4)) {
    FillRetry(random_, *policy.mutable_retry());
  } else if (random_.Chance(0.6)) {
    FillHedging(random_, *policy.mutable_hedging());
  }
  if (random_.Chance(0.3)) {
    FillCircuitBreaker(random_, *policy.mutable_circuit_breaker());
  }
  if (random_.Chance(0.3)) {
    FillLimit(random_, *policy.mutable_concurrency_limit());
  }
}

}  // namespace distbench::engine
