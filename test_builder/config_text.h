#ifndef DISTBENCH_TEST_BUILDER_CONFIG_TEXT_H_
#define DISTBENCH_TEST_BUILDER_CONFIG_TEXT_H_

#include <string>
#include <vector>

#include "absl/types/span.h"
#include "proto/traffic_config.pb.h"

namespace distbench {

// "# produced by test_builder ARGUMENTS", quoted so that a shell reads them as
// they were.
std::string ProducedBy(absl::Span<const std::string> arguments);

// The tests as a TestSequence in text format for people to read and edit: what
// matters most comes first, and short messages are written on one line.
std::string ConfigText(absl::Span<const DistributedSystemDescription> tests);

}  // namespace distbench

#endif  // DISTBENCH_TEST_BUILDER_CONFIG_TEXT_H_
