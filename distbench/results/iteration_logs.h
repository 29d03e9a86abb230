// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

// Recorded iterations of actions in encoded form (IterationLog).

#ifndef DISTBENCH_RESULTS_ITERATION_LOGS_H_
#define DISTBENCH_RESULTS_ITERATION_LOGS_H_

#include <cstdint>

#include "absl/status/status.h"
#include "proto/results.pb.h"

namespace distbench::results {

// The most iterations that one worker lists.
inline constexpr int64_t kMaxIterations = 10'000;

// Adds the iterations of `from` to those of `into`, which is valid or empty. An
// absent stride is 1; the sum lists those that the greater stride of both
// leaves. INVALID_ARGUMENT, and adds nothing, if `from` contradicts itself.
absl::Status MergeIterationLog(const IterationLog& from, IterationLog& into);

}  // namespace distbench::results

#endif  // DISTBENCH_RESULTS_ITERATION_LOGS_H_
