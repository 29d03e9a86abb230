#ifndef DISTBENCH_CONFIG_TESTING_FUZZ_ENTRY_H_
#define DISTBENCH_CONFIG_TESTING_FUZZ_ENTRY_H_

#include <string>
#include <vector>

#include "absl/strings/string_view.h"
#include "proto/traffic_config.pb.h"

namespace distbench {

// Strings that configs give a meaning to, for mutations.
std::vector<std::string> ConfigWords();

// Takes a sequence all the way that configs go: canonicalises, validates and
// checks it, and compiles the tests of one without problems, whether or not the
// engine runs their features. Must not fail in any other way than by reporting
// problems. Returns whether there were none.
bool CheckAndCompile(TestSequence sequence);

// Likewise from the bytes of a file. Also the body of LLVMFuzzerTestOneInput().
bool LoadCheckAndCompile(absl::string_view bytes);

}  // namespace distbench

#endif  // DISTBENCH_CONFIG_TESTING_FUZZ_ENTRY_H_
