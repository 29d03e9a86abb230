// Help, made from what patterns and protocols declare.

#ifndef DISTBENCH_TEST_BUILDER_HELP_H_
#define DISTBENCH_TEST_BUILDER_HELP_H_

#include <string>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"

namespace distbench {

// Usage, syntax, patterns, protocols.
std::string GeneralHelp();

// About a pattern or a protocol. The error says what there is help about.
absl::StatusOr<std::string> TopicHelp(absl::string_view topic);

}  // namespace distbench

#endif  // DISTBENCH_TEST_BUILDER_HELP_H_
