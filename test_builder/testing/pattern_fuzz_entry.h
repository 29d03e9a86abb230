// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

#ifndef TEST_BUILDER_TESTING_PATTERN_FUZZ_ENTRY_H_
#define TEST_BUILDER_TESTING_PATTERN_FUZZ_ENTRY_H_

#include <string>

namespace distbench::test_builder {

// Builds and checks the tests of a CONFIG argument, such as
// "clique:node_count=4". Ignores configs with settings from files ("<").
// Returns whether there are tests; if so, they pass the check.
bool BuildAndCheck(const std::string& config);

}  // namespace distbench::test_builder

#endif  // TEST_BUILDER_TESTING_PATTERN_FUZZ_ENTRY_H_
