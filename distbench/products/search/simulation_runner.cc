#include "distbench/products/search/simulation_runner.h"

#include <cstdint>
#include <utility>

#include "absl/status/status.h"
#include "absl/time/clock.h"
#include "absl/time/time.h"

namespace distbench::search {

TestRunner RunOnSimulation(cli::SimulatedHosts hosts,
                           const std::atomic<bool>& is_cancelled,
                           int runs_before) {
  return [hosts = std::move(hosts), &is_cancelled, runs = runs_before](
             DistributedSystemDescription test,
             const ProgressWatcher& /*watch*/) mutable
         -> absl::StatusOr<TestResult> {
    const uint64_t first_seed = test.has_random_seed() ? test.random_seed() : 1;
    test.set_random_seed(first_seed + runs++);
    absl::StatusOr<TestResult> result =
        hosts.run(test, absl::ToUnixNanos(absl::Now()), is_cancelled);
    if (is_cancelled) return absl::CancelledError("the search was cancelled");
    return result;
  };
}

}  // namespace distbench::search
