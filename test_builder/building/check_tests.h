#ifndef DISTBENCH_TEST_BUILDER_BUILDING_CHECK_TESTS_H_
#define DISTBENCH_TEST_BUILDER_BUILDING_CHECK_TESTS_H_

#include "absl/status/status.h"
#include "absl/types/span.h"
#include "proto/traffic_config.pb.h"
#include "test_builder/building/notes.h"

namespace distbench::test_builder {

// Checks whether all tests can run. INVALID_ARGUMENT lists the problems, one
// per line, each after the test's name. Adds a note for tests that can run but
// are useless, for example because the warm-up is as long as the test.
absl::Status CheckTests(absl::Span<const DistributedSystemDescription> tests,
                        Notes& notes);

}  // namespace distbench::test_builder

#endif  // DISTBENCH_TEST_BUILDER_BUILDING_CHECK_TESTS_H_
