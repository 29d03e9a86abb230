#ifndef DISTBENCH_TEST_BUILDER_RUN_TEST_BACKEND_H_
#define DISTBENCH_TEST_BUILDER_RUN_TEST_BACKEND_H_

#include "absl/functional/function_ref.h"
#include "absl/status/status.h"
#include "proto/control.pb.h"
#include "proto/results.pb.h"
#include "proto/traffic_config.pb.h"

namespace distbench::test_builder {

// Runs tests. For use by one thread, except for Cancel().
class TestBackend {
 public:
  virtual ~TestBackend() = default;

  // Makes sure that tests can be run; returns at once if so. The error says
  // what was tried and what to check.
  virtual absl::Status Connect() = 0;

  using EventObserver = absl::FunctionRef<void(const RunTestsEvent& event)>;

  // Runs one test, after Connect() has succeeded. See TestClient::RunTests().
  virtual absl::Status Run(const DistributedSystemDescription& test,
                           EventObserver observer,
                           TestSequenceResults& results) = 0;

  // Ends a Run() in progress. May be called by any thread.
  virtual void Cancel() = 0;
};

}  // namespace distbench::test_builder

#endif  // DISTBENCH_TEST_BUILDER_RUN_TEST_BACKEND_H_
