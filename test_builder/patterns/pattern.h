// A pattern: traffic of a known shape, made to measure by parameters. To add
// one, declare it in a file of its own and list it in registry.cc: the command
// line, its checks and its help follow from the declaration.

#ifndef DISTBENCH_TEST_BUILDER_PATTERNS_PATTERN_H_
#define DISTBENCH_TEST_BUILDER_PATTERNS_PATTERN_H_

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "proto/traffic_config.pb.h"
#include "test_builder/parameter.h"

namespace distbench {

// What a pattern makes of its parameters.
struct Traffic {
  // The pattern and the values that tell its variants apart. First part of the
  // test's name, so without '/' and blanks.
  std::string alias;

  // Appended to the test's name; may be empty.
  std::string name_suffix;

  // Services, RPCs, actions and so on, without name, attributes and protocol.
  DistributedSystemDescription body;
};

struct Pattern {
  std::string name;

  // What the traffic looks like: a line for the list of patterns, and a
  // paragraph for the pattern's own help.
  std::string summary;
  std::string description;

  // An invocation's CONFIG worth copying.
  std::string example;

  std::vector<Parameter> parameters;

  // `values` are those of `parameters` and of CommonParameters(). The error
  // says which values do not go together, and what would.
  absl::StatusOr<Traffic> (*build)(const ParameterValues& values);
};

}  // namespace distbench

#endif  // DISTBENCH_TEST_BUILDER_PATTERNS_PATTERN_H_
