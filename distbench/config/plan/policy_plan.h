// What the caller of an RPC does about slow, failed and superfluous calls.

#ifndef DISTBENCH_CONFIG_PLAN_POLICY_PLAN_H_
#define DISTBENCH_CONFIG_PLAN_POLICY_PLAN_H_

#include <cstdint>
#include <limits>
#include <optional>

#include "proto/traffic_config.pb.h"

namespace distbench::config {

enum class LoadBalancing { kRoundRobin, kRandom, kTwoChoices, kLeastInFlight };

struct PolicyPlan {
  // As in the canonical config, where traffic_config.proto documents the fields
  // and their defaults.
  CallPolicy policy;

  // What follows from it for all attempts alike.
  std::optional<LoadBalancing> load_balancing;
  int64_t attempt_deadline_ns = std::numeric_limits<int64_t>::max();  // none

  // Of a request, with the first one; further ones are those of its retries or
  // its hedging, of which there is at most one.
  int max_attempts = 1;
  std::optional<RetryBudget> budget;  // of the further ones
};

}  // namespace distbench::config

#endif  // DISTBENCH_CONFIG_PLAN_POLICY_PLAN_H_
