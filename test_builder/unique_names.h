#ifndef DISTBENCH_TEST_BUILDER_UNIQUE_NAMES_H_
#define DISTBENCH_TEST_BUILDER_UNIQUE_NAMES_H_

#include <vector>

#include "absl/status/statusor.h"
#include "proto/traffic_config.pb.h"
#include "test_builder/notes.h"
#include "test_builder/parameter.h"

namespace distbench {

struct NamedTest {
  DistributedSystemDescription test;

  // Parameters that differ between this test and its siblings.
  ValueMap varied;
};

// The tests, each with a name that no other has, since results are filed under
// it. Where names do not tell tests apart, "-PARAMETER_VALUE" is appended for
// the parameters that do. Tests that are equal but for their label are kept
// once, with a note. The error says in what tests differ that would have to
// share a name.
absl::StatusOr<std::vector<DistributedSystemDescription>> GiveOwnNames(
    std::vector<NamedTest> tests, Notes& notes);

// Whether the tests are the same, apart from the label of their config.
bool EqualButForLabels(const DistributedSystemDescription& a,
                       const DistributedSystemDescription& b);

}  // namespace distbench

#endif  // DISTBENCH_TEST_BUILDER_UNIQUE_NAMES_H_
