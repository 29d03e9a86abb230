// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

#ifndef DISTBENCH_PRODUCTS_PROTECTION_ANTAGONISTS_FORK_STORM_H_
#define DISTBENCH_PRODUCTS_PROTECTION_ANTAGONISTS_FORK_STORM_H_

#include <cstdint>
#include <memory>
#include <string>

#include "absl/status/statusor.h"
#include "distbench/activity/activity.h"
#include "distbench/base/clock.h"

namespace distbench::protection {

struct ForkStormOptions {
  // Processes that an iteration starts.
  int64_t children = 1;

  // The program that each executes, without arguments; empty: they end at once.
  std::string program;

  // A child that has not ended this long after the last one was started is
  // killed.
  int64_t patience_ns = 2'000'000'000;

  // Limits the time of an iteration.
  const base::Clock* clock = &base::RealClock();
};

// Each iteration starts processes, each a copy of this one, and waits until all
// of them have ended. It starts none after activity::kLongestIterationNs. A
// child that could not be started, does not succeed or is killed is a failed
// operation, and no more are started after the system has refused one. Leaves
// no process behind. The error says that the program cannot be executed, and
// why.
absl::StatusOr<std::unique_ptr<activity::Activity>> MakeForkStorm(
    const ForkStormOptions& options);

}  // namespace distbench::protection

#endif  // DISTBENCH_PRODUCTS_PROTECTION_ANTAGONISTS_FORK_STORM_H_
