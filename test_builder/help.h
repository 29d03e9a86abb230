// Help texts, generated from the declarations of patterns and protocols.

#ifndef DISTBENCH_TEST_BUILDER_HELP_H_
#define DISTBENCH_TEST_BUILDER_HELP_H_

#include <string>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"

namespace distbench::test_builder {

// Usage, syntax, patterns and protocols.
std::string GeneralHelp();

// Help on a pattern or a protocol. The error lists the available topics.
absl::StatusOr<std::string> TopicHelp(absl::string_view topic);

// The manual page of test_builder, with all patterns and protocols and their
// parameters. `version` is such as "1.2.3".
std::string TestBuilderManPage(absl::string_view version);

}  // namespace distbench::test_builder

#endif  // DISTBENCH_TEST_BUILDER_HELP_H_
