#ifndef DISTBENCH_CLI_TEST_INPUT_H_
#define DISTBENCH_CLI_TEST_INPUT_H_

#include <string>

#include "absl/status/statusor.h"
#include "proto/traffic_config.pb.h"

namespace distbench {

// Returns the tests of a file, canonical and ready to run. The error lists
// every problem, one per line, after the file's name. Prints a hint to stderr
// if it waits for terminal input.
absl::StatusOr<TestSequence> LoadAndCheckTests(const std::string& infile);

}  // namespace distbench

#endif  // DISTBENCH_CLI_TEST_INPUT_H_
