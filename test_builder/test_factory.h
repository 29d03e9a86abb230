// One test, from the settings that describe it.

#ifndef DISTBENCH_TEST_BUILDER_TEST_FACTORY_H_
#define DISTBENCH_TEST_BUILDER_TEST_FACTORY_H_

#include <string>

#include "absl/status/statusor.h"
#include "proto/traffic_config.pb.h"
#include "test_builder/notes.h"
#include "test_builder/parameter.h"

namespace distbench {

struct TestRequest {
  // Includes the pattern and, unless it is gRPC, the protocol.
  ValueMap settings;

  // Kept as attributes: where the test came from, and the names of what varies
  // between it and its siblings (may be empty).
  std::string config_label;
  std::string swept_parameters;

  // Take a name that looks like a typing error as an attribute.
  bool allow_extra = false;
};

// The error lists every setting that is wrong, one per line.
absl::StatusOr<DistributedSystemDescription> BuildTest(
    const TestRequest& request, Notes& notes);

// How long the traffic of a test that was built here lasts, at most. Seconds.
double TrafficSeconds(const DistributedSystemDescription& test);

// The names are those that tests are filed under.
void SetTestName(const std::string& name, DistributedSystemDescription& test);

}  // namespace distbench

#endif  // DISTBENCH_TEST_BUILDER_TEST_FACTORY_H_
