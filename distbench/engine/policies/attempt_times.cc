#include "distbench/engine/policies/attempt_times.h"

#include <algorithm>
#include <cmath>

#include "absl/random/distributions.h"

namespace distbench::engine {

int64_t BackoffNs(const RetryPolicy& policy, int retry,
                  absl::BitGenRef random) {
  const double grown_ns = static_cast<double>(policy.initial_backoff_ns()) *
                          std::pow(policy.multiplier(), retry - 1);
  const int64_t most_ns = policy.max_backoff_ns();
  // The comparison also holds for an infinite pause.
  const int64_t pause_ns = grown_ns < static_cast<double>(most_ns)
                               ? std::llround(grown_ns)
                               : most_ns;
  if (policy.jitter() == "none") return pause_ns;
  const int64_t least_ns = policy.jitter() == "equal" ? pause_ns / 2 : 0;
  return absl::Uniform(absl::IntervalClosed, random, least_ns, pause_ns);
}

}  // namespace distbench::engine
