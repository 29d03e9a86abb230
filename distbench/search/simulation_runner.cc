#include "distbench/search/simulation_runner.h"

#include <utility>

#include "absl/status/status.h"

namespace distbench {

TestRunner RunOnSimulation(ClusterRunOptions options) {
  return [options = std::move(options)](
             const DistributedSystemDescription& test,
             const ProgressWatcher& /*watch*/) -> absl::StatusOr<TestResult> {
    absl::StatusOr<TestResult> result = RunSimulatedTest(test, options);
    if (options.is_cancelled != nullptr && *options.is_cancelled) {
      return absl::CancelledError("the search was cancelled");
    }
    return result;
  };
}

}  // namespace distbench
