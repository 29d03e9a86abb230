// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

#include "distbench/results/run_failure.h"

namespace distbench::results {

std::optional<std::string> FailureOf(const TestResult& result) {
  const RunInfo& info = result.run_info();
  if (info.has_failure()) return info.failure();
  // The sequencer says why as well; other writers of results need not.
  if (info.overloaded()) return "it reached one of its overload_limits";
  return std::nullopt;
}

}  // namespace distbench::results
