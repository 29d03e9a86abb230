// All tests of a command line: sweeps x configs x value lists.

#ifndef DISTBENCH_TEST_BUILDER_TEST_LIST_H_
#define DISTBENCH_TEST_BUILDER_TEST_LIST_H_

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "proto/traffic_config.pb.h"
#include "test_builder/notes.h"
#include "test_builder/sweep.h"

namespace distbench {

struct TestListRequest {
  // Each config stands for tests of its own; each sweep multiplies them.
  std::vector<std::string> configs;
  std::vector<Sweep> sweeps;

  // "" or "PART:PART:": put before each config.
  std::string prefix;

  // Put before each config's label.
  std::string label;

  // Seconds, unless a config has a test_duration of its own.
  std::string duration = "30";

  bool allow_extra = false;
};

// The tests, with names of their own: the first sweep varies slowest, then the
// configs, then the value lists of a config. Where names do not tell tests
// apart, the swept parameters that differ are appended. Equal tests are kept
// once, with a note. The error lists the problems of all configs, one per line.
absl::StatusOr<std::vector<DistributedSystemDescription>> BuildTests(
    const TestListRequest& request, Notes& notes);

}  // namespace distbench

#endif  // DISTBENCH_TEST_BUILDER_TEST_LIST_H_
