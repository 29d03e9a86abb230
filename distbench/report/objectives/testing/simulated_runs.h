// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

// Runs of an RPC of which the truth is known, for tests of the intervals that
// objectives print.

#ifndef DISTBENCH_REPORT_OBJECTIVES_TESTING_SIMULATED_RUNS_H_
#define DISTBENCH_REPORT_OBJECTIVES_TESTING_SIMULATED_RUNS_H_

#include <cstdint>
#include <random>
#include <string>
#include <vector>

#include "absl/types/span.h"
#include "distbench/config/objectives/objective.h"
#include "proto/results.pb.h"

namespace distbench::report {

// One client calls one server in a closed loop; a policy sends some RPCs twice.
// Latencies are log-normal, and rates, failures, second attempts and the CPU
// time of the host vary around their means.
struct SimulatedRun {
  int seconds = 30;
  int rpcs_per_second = 400;

  // Each RPC, and each second, is independent of its neighbours. Otherwise
  // latencies follow an autoregression, in which slow ones last for some twenty
  // RPCs, and in some seconds more is sent, more fails, or more is sent twice
  // than in others.
  bool is_independent = true;
};

TestResult SimulateRun(const SimulatedRun& run, std::mt19937_64& random);

// What an objective on such runs measures, in the unit of its limit.
double TruthOf(const SimulatedRun& run, const config::Objective& objective);

// In how many runs the 95 % interval of an objective contained the truth, among
// those whose interval claims to hold for dependent RPCs, and how many others
// there were. A bound that is absent contains everything.
struct Coverage {
  std::string objective;
  int contained = 0;
  int of_independent = 0;  // Estimate::is_of_independent
  int contained_by_these = 0;
};
std::vector<Coverage> CoverageOfObjectives(
    const SimulatedRun& run, absl::Span<const std::string> objectives, int runs,
    uint64_t seed = 1);

// An objective for each of the metrics whose intervals are simulated; the
// limits do not matter.
std::vector<std::string> SimulatedObjectives();

}  // namespace distbench::report

#endif  // DISTBENCH_REPORT_OBJECTIVES_TESTING_SIMULATED_RUNS_H_
