// A helper for tests of patterns.

#ifndef DISTBENCH_TEST_BUILDER_PATTERNS_TESTING_BUILD_PATTERN_H_
#define DISTBENCH_TEST_BUILDER_PATTERNS_TESTING_BUILD_PATTERN_H_

#include <vector>

#include "absl/status/statusor.h"
#include "test_builder/parameters/parameter.h"
#include "test_builder/patterns/pattern.h"

namespace distbench::test_builder {

// Builds the pattern with the given values, and the defaults of all others.
inline absl::StatusOr<Traffic> BuildPattern(const Pattern& pattern,
                                            const ValueMap& given) {
  std::vector<Parameter> declared = pattern.parameters;
  declared.insert(declared.end(), CommonParameters().begin(),
                  CommonParameters().end());
  const absl::StatusOr<ParameterValues> values =
      ParameterValues::Resolve(declared, given);
  if (!values.ok()) return values.status();
  return pattern.build(*values);
}

}  // namespace distbench::test_builder

#endif  // DISTBENCH_TEST_BUILDER_PATTERNS_TESTING_BUILD_PATTERN_H_
