#ifndef DISTBENCH_CLI_PATTERN_INPUT_H_
#define DISTBENCH_CLI_PATTERN_INPUT_H_

#include <string>

#include "absl/status/statusor.h"
#include "proto/traffic_config.pb.h"

namespace distbench {

// The one test of a pattern string, such as "feed_aggregator:grpc", as
// test_builder would make it, canonical; or without a pattern that of a file.
// INVALID_ARGUMENT if they are wrong, or make more or less than one test.
absl::StatusOr<DistributedSystemDescription> LoadOneTest(
    const std::string& pattern, const std::string& infile);

}  // namespace distbench

#endif  // DISTBENCH_CLI_PATTERN_INPUT_H_
