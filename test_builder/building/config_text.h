// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

#ifndef DISTBENCH_TEST_BUILDER_BUILDING_CONFIG_TEXT_H_
#define DISTBENCH_TEST_BUILDER_BUILDING_CONFIG_TEXT_H_

#include <string>
#include <vector>

#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "distbench/config/reading/config_format.h"
#include "proto/traffic_config.pb.h"

namespace distbench::test_builder {

// Returns "# produced by test_builder ARGUMENTS", quoted so that a shell can
// read the arguments back.
std::string ProducedBy(absl::Span<const std::string> arguments);

// Returns the tests as a TestSequence in text format, for users to read and
// edit: the most important fields come first, and short messages are on one
// line.
std::string ConfigText(absl::Span<const DistributedSystemDescription> tests);

// A whole config in one of the formats. `header` is a comment, which JSON
// cannot have.
std::string ConfigFile(absl::string_view header,
                       absl::Span<const DistributedSystemDescription> tests,
                       config::ConfigFormat format);

}  // namespace distbench::test_builder

#endif  // DISTBENCH_TEST_BUILDER_BUILDING_CONFIG_TEXT_H_
