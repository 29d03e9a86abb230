#include "distbench/products/search/simulation_runner.h"

#include <utility>

#include "absl/status/status.h"
#include "absl/time/clock.h"
#include "absl/time/time.h"

namespace distbench::search {

TestRunner RunOnSimulation(simulation::ClusterRunOptions options,
                           int runs_before) {
  return [options = std::move(options), runs = runs_before](
             DistributedSystemDescription test,
             const ProgressWatcher& /*watch*/) mutable
         -> absl::StatusOr<TestResult> {
    const uint64_t first_seed = test.has_random_seed() ? test.random_seed() : 1;
    test.set_random_seed(first_seed + runs++);
    options.start_unix_ns = absl::ToUnixNanos(absl::Now());
    absl::StatusOr<TestResult> result =
        simulation::RunSimulatedTest(test, options);
    if (options.is_cancelled != nullptr && *options.is_cancelled) {
      return absl::CancelledError("the search was cancelled");
    }
    return result;
  };
}

}  // namespace distbench::search
