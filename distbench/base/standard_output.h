// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

#ifndef DISTBENCH_BASE_STANDARD_OUTPUT_H_
#define DISTBENCH_BASE_STANDARD_OUTPUT_H_

#include "absl/status/status.h"

namespace distbench::base {

// Writes what std::cout and stdio still hold, and says whether stdout has taken
// all that the process printed: a full disk or a closed stdout is an error,
// which names it. Not an error is a reader that went away, such as head(1),
// which had what it wanted. main() calls this once, at its end: streams only
// remember that something could not be written.
absl::Status FinishStandardOutput();

}  // namespace distbench::base

#endif  // DISTBENCH_BASE_STANDARD_OUTPUT_H_
