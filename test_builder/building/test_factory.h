// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

// Builds a test from the settings that describe it, and checks tests.

#ifndef DISTBENCH_TEST_BUILDER_BUILDING_TEST_FACTORY_H_
#define DISTBENCH_TEST_BUILDER_BUILDING_TEST_FACTORY_H_

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "proto/traffic_config.pb.h"
#include "test_builder/parameters/parameter.h"

namespace distbench::test_builder {

// Notes to the user about tests that were built nevertheless. Duplicates are
// dropped, because tests of a sweep have much in common.
class Notes {
 public:
  void Add(std::string note) {
    if (std::find(all_.begin(), all_.end(), note) == all_.end()) {
      all_.push_back(std::move(note));
    }
  }

  const std::vector<std::string>& all() const { return all_; }

 private:
  std::vector<std::string> all_;
};

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

// Checks whether all tests can run. INVALID_ARGUMENT lists the problems, one
// per line, each after the test's name. Adds a note for tests that can run but
// are useless, for example because the warm-up is as long as the test.
absl::Status CheckTests(absl::Span<const DistributedSystemDescription> tests,
                        Notes& notes);

}  // namespace distbench::test_builder

#endif  // DISTBENCH_TEST_BUILDER_BUILDING_TEST_FACTORY_H_
