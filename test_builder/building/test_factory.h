// Builds a test from the settings that describe it.

#ifndef DISTBENCH_TEST_BUILDER_BUILDING_TEST_FACTORY_H_
#define DISTBENCH_TEST_BUILDER_BUILDING_TEST_FACTORY_H_

#include <string>

#include "absl/status/statusor.h"
#include "proto/traffic_config.pb.h"
#include "test_builder/building/notes.h"
#include "test_builder/parameters/parameter.h"

namespace distbench::test_builder {

struct TestRequest {
  // Includes the pattern and, unless it is gRPC, the protocol.
  ValueMap settings;

  // Kept as attributes: the origin of the test, and the names of the parameters
  // that vary between it and its siblings (may be empty).
  std::string config_label;
  std::string swept_parameters;

  // Accept a name that looks like a typing error as an attribute.
  bool allow_extra = false;
};

// Builds the test. The error lists every invalid setting, one per line.
absl::StatusOr<DistributedSystemDescription> BuildTest(
    const TestRequest& request, Notes& notes);

// The maximum duration of the traffic of a test that was built here, in
// seconds.
double TrafficSeconds(const DistributedSystemDescription& test);

// Sets the name under which the test's files are stored.
void SetTestName(const std::string& name, DistributedSystemDescription& test);

}  // namespace distbench::test_builder

#endif  // DISTBENCH_TEST_BUILDER_BUILDING_TEST_FACTORY_H_
