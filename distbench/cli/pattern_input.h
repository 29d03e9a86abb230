#ifndef DISTBENCH_CLI_PATTERN_INPUT_H_
#define DISTBENCH_CLI_PATTERN_INPUT_H_

#include <string>

#include "absl/status/statusor.h"
#include "proto/traffic_config.pb.h"

namespace distbench {

// Returns the single test of a pattern string such as "feed_aggregator:grpc",
// built as by test_builder, or of a file if `pattern` is empty. The test is
// canonical. INVALID_ARGUMENT if the input is wrong or does not yield exactly
// one test.
absl::StatusOr<DistributedSystemDescription> LoadOneTest(
    const std::string& pattern, const std::string& infile);

}  // namespace distbench

#endif  // DISTBENCH_CLI_PATTERN_INPUT_H_
