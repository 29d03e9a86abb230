// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

#ifndef DISTBENCH_FUZZING_KEPT_CORPUS_H_
#define DISTBENCH_FUZZING_KEPT_CORPUS_H_

#include <string>
#include <vector>

#include "absl/strings/string_view.h"

namespace distbench::fuzzing {

// Returns the inputs that scripts/fuzz.sh has kept for a target such as
// "config", sorted by name. For tests, which need //tests/corpus:NAME as data.
// The test fails if there are none.
std::vector<std::string> KeptCorpus(absl::string_view name);

}  // namespace distbench::fuzzing

#endif  // DISTBENCH_FUZZING_KEPT_CORPUS_H_
