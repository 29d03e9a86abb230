// What flags of several commands change about tests before these run.

#ifndef DISTBENCH_CLI_TEST_CHANGES_H_
#define DISTBENCH_CLI_TEST_CHANGES_H_

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "proto/traffic_config.pb.h"

namespace distbench::cli {

// Overrides the tests' own limits, unless the limit is infinite.
void LimitDuration(absl::Duration limit, TestSequence& tests);

void LeaveOutSamples(TestSequence& tests);

// The tests with the objectives of the flags, canonical again. They go with the
// tests, so that the result says what it was judged by.
absl::StatusOr<TestSequence> WithObjectives(
    TestSequence tests, const std::vector<std::string>& objectives);

// What a product remarks about a test that is run without what the product
// would do with it, as a base::Plugin<TestRemark>.
struct TestRemark {
  // Such as "runs without its experiment"; empty if there is nothing to say.
  std::string (*about)(const DistributedSystemDescription& test);
};

// Prints the remarks to stderr.
void RemarkOnTests(const TestSequence& tests);

}  // namespace distbench::cli

#endif  // DISTBENCH_CLI_TEST_CHANGES_H_
