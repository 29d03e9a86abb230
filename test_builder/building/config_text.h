#ifndef DISTBENCH_TEST_BUILDER_BUILDING_CONFIG_TEXT_H_
#define DISTBENCH_TEST_BUILDER_BUILDING_CONFIG_TEXT_H_

#include <string>
#include <vector>

#include "absl/types/span.h"
#include "proto/traffic_config.pb.h"

namespace distbench::test_builder {

// Returns "# produced by test_builder ARGUMENTS", quoted so that a shell can
// read the arguments back.
std::string ProducedBy(absl::Span<const std::string> arguments);

// Returns the tests as a TestSequence in text format, for users to read and
// edit: the most important fields come first, and short messages are on one
// line.
std::string ConfigText(absl::Span<const DistributedSystemDescription> tests);

}  // namespace distbench::test_builder

#endif  // DISTBENCH_TEST_BUILDER_BUILDING_CONFIG_TEXT_H_
