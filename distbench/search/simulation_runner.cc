#include "distbench/search/simulation_runner.h"

#include <utility>

#include "absl/status/status.h"
#include "absl/time/clock.h"
#include "absl/time/time.h"

namespace distbench {

TestRunner RunOnSimulation(ClusterRunOptions options) {
  return
      [options = std::move(options)](const DistributedSystemDescription& test,
                                     const ProgressWatcher& /*watch*/) mutable
      -> absl::StatusOr<TestResult> {
        options.start_unix_ns = absl::ToUnixNanos(absl::Now());
        absl::StatusOr<TestResult> result = RunSimulatedTest(test, options);
        if (options.is_cancelled != nullptr && *options.is_cancelled) {
          return absl::CancelledError("the search was cancelled");
        }
        return result;
      };
}

}  // namespace distbench
