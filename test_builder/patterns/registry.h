#ifndef DISTBENCH_TEST_BUILDER_PATTERNS_REGISTRY_H_
#define DISTBENCH_TEST_BUILDER_PATTERNS_REGISTRY_H_

#include <string>
#include <vector>

#include "absl/strings/string_view.h"
#include "test_builder/patterns/pattern.h"

namespace distbench::test_builder {

// In the order in which the help lists them.
const std::vector<Pattern>& AllPatterns();

// Their names.
std::vector<std::string> PatternNames();

// Returns null if there is no such pattern.
const Pattern* FindPattern(absl::string_view name);

}  // namespace distbench::test_builder

#endif  // DISTBENCH_TEST_BUILDER_PATTERNS_REGISTRY_H_
