// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

#ifndef DISTBENCH_CONFIG_TESTING_FUZZ_ENTRY_H_
#define DISTBENCH_CONFIG_TESTING_FUZZ_ENTRY_H_

#include <string>
#include <vector>

#include "absl/strings/string_view.h"
#include "proto/traffic_config.pb.h"

namespace distbench::config {

// Strings that have a meaning in configs, for mutations.
std::vector<std::string> ConfigWords();

// Canonicalises, validates and checks a sequence, and compiles its tests if
// there are no problems, whether or not the engine supports their features.
// Must not fail except by reporting problems. Returns whether there were none.
bool CheckAndCompile(TestSequence sequence);

// Same, from the bytes of a file, in which problems are found. Also the body of
// LLVMFuzzerTestOneInput().
bool LoadCheckAndCompile(absl::string_view bytes);

}  // namespace distbench::config

#endif  // DISTBENCH_CONFIG_TESTING_FUZZ_ENTRY_H_
