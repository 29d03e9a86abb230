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

// Says on stderr which parts of the tests are for another command.
void NoteExperiments(const TestSequence& tests);

}  // namespace distbench::cli

#endif  // DISTBENCH_CLI_TEST_CHANGES_H_
