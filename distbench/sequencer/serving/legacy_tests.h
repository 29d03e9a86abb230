// Tests from existing clients, which know only the call RunTestSequence.
// distbench's own clients use RunTests, and never come here.

#ifndef DISTBENCH_SEQUENCER_SERVING_LEGACY_TESTS_H_
#define DISTBENCH_SEQUENCER_SERVING_LEGACY_TESTS_H_

#include <map>
#include <string>
#include <vector>

#include "proto/results.pb.h"
#include "proto/traffic_config.pb.h"

namespace distbench {

// Warnings by the position of the test, each with the path of its subject.
using WarningsByTest = std::map<int, std::vector<std::string>>;

// Changes tests that existing clients run successfully, and that would be
// refused otherwise:
// - Names of payloads that do not exist are removed, so that the RPC has the
//   default size.
// - A test in which no service has a main list gets an empty one. It sends
//   nothing, and ends at once.
// Returns a warning for each change.
WarningsByTest AdaptLegacyTests(TestSequence& sequence);

// Adds the warnings to the findings and at the end of the summary.
void AddWarnings(const std::vector<std::string>& warnings, TestResult& result);

}  // namespace distbench

#endif  // DISTBENCH_SEQUENCER_SERVING_LEGACY_TESTS_H_
