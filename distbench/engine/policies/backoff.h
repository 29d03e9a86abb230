#ifndef DISTBENCH_ENGINE_POLICIES_BACKOFF_H_
#define DISTBENCH_ENGINE_POLICIES_BACKOFF_H_

#include <cstdint>

#include "absl/random/bit_gen_ref.h"
#include "distbench/config/plan/policy_plan.h"

namespace distbench::engine {

// Returns the pause before a retry; the first one is number 1. The kinds of
// jitter are those of Marc Brooker, "Exponential Backoff And Jitter", AWS
// Architecture Blog, 2015.
int64_t BackoffNs(const config::RetryPlan& plan, int retry,
                  absl::BitGenRef random);

}  // namespace distbench::engine

#endif  // DISTBENCH_ENGINE_POLICIES_BACKOFF_H_
