#ifndef DISTBENCH_TEST_BUILDER_BUILDING_UNIQUE_NAMES_H_
#define DISTBENCH_TEST_BUILDER_BUILDING_UNIQUE_NAMES_H_

#include <vector>

#include "absl/status/statusor.h"
#include "proto/traffic_config.pb.h"
#include "test_builder/building/notes.h"
#include "test_builder/parameters/parameter.h"

namespace distbench::test_builder {

struct NamedTest {
  DistributedSystemDescription test;

  // Parameters that differ between this test and its siblings.
  ValueMap varied;
};

// Gives each test a unique name, because results are stored by name. Where
// names would be equal, "-PARAMETER_VALUE" is appended for the parameters that
// differ. Of tests that differ only in their label, one is kept, with a note.
// The error says how tests differ that would have to share a name.
absl::StatusOr<std::vector<DistributedSystemDescription>> GiveOwnNames(
    std::vector<NamedTest> tests, Notes& notes);

// Whether the tests are equal, apart from the label of their config.
bool EqualButForLabels(const DistributedSystemDescription& a,
                       const DistributedSystemDescription& b);

}  // namespace distbench::test_builder

#endif  // DISTBENCH_TEST_BUILDER_BUILDING_UNIQUE_NAMES_H_
