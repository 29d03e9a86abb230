#ifndef DISTBENCH_TEST_BUILDER_CHECK_TESTS_H_
#define DISTBENCH_TEST_BUILDER_CHECK_TESTS_H_

#include "absl/status/status.h"
#include "absl/types/span.h"
#include "proto/traffic_config.pb.h"
#include "test_builder/notes.h"

namespace distbench {

// Whether all tests can be run. INVALID_ARGUMENT lists what stands in the way,
// one problem per line, after the test's name. Notes what can be run but has
// no use, such as a warm-up as long as the test.
absl::Status CheckTests(absl::Span<const DistributedSystemDescription> tests,
                        Notes& notes);

}  // namespace distbench

#endif  // DISTBENCH_TEST_BUILDER_CHECK_TESTS_H_
