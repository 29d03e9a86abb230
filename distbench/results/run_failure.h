// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

#ifndef DISTBENCH_RESULTS_RUN_FAILURE_H_
#define DISTBENCH_RESULTS_RUN_FAILURE_H_

#include <optional>
#include <string>

#include "proto/results.pb.h"

namespace distbench::results {

// Why the run ended early or never began; nothing if it ran to its end. Whoever
// wants to know whether a run failed asks here: a result has several fields
// about that. How it ended, report/measurements/run_outcome.h judges.
std::optional<std::string> FailureOf(const TestResult& result);

}  // namespace distbench::results

#endif  // DISTBENCH_RESULTS_RUN_FAILURE_H_
