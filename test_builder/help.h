// Help texts, generated from the declarations of patterns and protocols.

#ifndef DISTBENCH_TEST_BUILDER_HELP_H_
#define DISTBENCH_TEST_BUILDER_HELP_H_

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"

namespace distbench::test_builder {

// Usage, syntax, patterns and protocols.
std::string GeneralHelp();

struct HelpSection {
  std::string title;
  std::string text;
};

// All help but that on flags, in the sections of a manual page.
std::vector<HelpSection> HelpSections();

// Help on a pattern or a protocol. The error lists the available topics.
absl::StatusOr<std::string> TopicHelp(absl::string_view topic);

}  // namespace distbench::test_builder

#endif  // DISTBENCH_TEST_BUILDER_HELP_H_
