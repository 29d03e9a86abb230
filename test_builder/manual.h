#ifndef DISTBENCH_TEST_BUILDER_MANUAL_H_
#define DISTBENCH_TEST_BUILDER_MANUAL_H_

#include <string>

#include "absl/strings/string_view.h"

namespace distbench::test_builder {

// The manual page of test_builder, with all patterns and protocols and their
// parameters. `version` is such as "1.2.3".
std::string TestBuilderManPage(absl::string_view version);

}  // namespace distbench::test_builder

#endif  // DISTBENCH_TEST_BUILDER_MANUAL_H_
