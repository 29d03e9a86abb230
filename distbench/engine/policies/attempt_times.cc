#include "distbench/engine/policies/attempt_times.h"

#include <algorithm>
#include <cmath>

#include "absl/random/distributions.h"

namespace distbench::engine {

int64_t BackoffNs(const config::RetryPlan& plan, int retry,
                  absl::BitGenRef random) {
  const double grown_ns = static_cast<double>(plan.initial_backoff_ns) *
                          std::pow(plan.multiplier, retry - 1);
  // The comparison also holds for an infinite pause.
  const int64_t pause_ns = grown_ns < static_cast<double>(plan.max_backoff_ns)
                               ? std::llround(grown_ns)
                               : plan.max_backoff_ns;
  switch (plan.jitter) {
    case config::RetryPlan::Jitter::kFull:
      return absl::Uniform(absl::IntervalClosed, random, int64_t{0}, pause_ns);
    case config::RetryPlan::Jitter::kEqual:
      return absl::Uniform(absl::IntervalClosed, random, pause_ns / 2,
                           pause_ns);
    case config::RetryPlan::Jitter::kNone:
      break;
  }
  return pause_ns;
}

}  // namespace distbench::engine
