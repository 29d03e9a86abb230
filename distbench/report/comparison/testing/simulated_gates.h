// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

// Gates on simulated runs whose true change is known.

#ifndef DISTBENCH_REPORT_COMPARISON_TESTING_SIMULATED_GATES_H_
#define DISTBENCH_REPORT_COMPARISON_TESTING_SIMULATED_GATES_H_

#include <cstdint>
#include <string>

namespace distbench::report {

// Gates on a metric of several independent RPCs, which is compared by ratio.
// Its value in each run is log-normal around the true one.
struct GateExperiment {
  std::string gate = "p99>5%";

  // New divided by base, of every RPC.
  double true_ratio = 1;

  int conditions = 1;

  // The standard deviation of the logarithm of the metric between runs.
  double spread = 0.03;

  // Runs of each: as many as this or, until_decided, at most.
  int runs = 8;
  bool until_decided = false;

  int gates = 1000;
  uint64_t seed = 1;
};

struct GateOutcomes {
  int passed = 0;     // all conditions passed
  int failed = 0;     // some condition failed
  int undecided = 0;  // neither

  // Gates in which any condition passed.
  int any_passed = 0;

  // The mean number of runs of each.
  double mean_runs = 0;
};

GateOutcomes SimulateGates(const GateExperiment& experiment);

// A gate on the failures of an RPC whose share of failures changed by exactly
// the gate's margin.
struct FailureExperiment {
  // How many failures are expected in all runs of the base, and how many more
  // in those of the new version.
  double base_failures = 0;
  double more_failures = 0;

  // The standard deviation of the share of failures between runs, relative to
  // it. If 0, RPCs fail independently.
  double spread = 0;

  int runs = 5;  // of each
  int gates = 1000;
  uint64_t seed = 1;
};

GateOutcomes SimulateFailureGates(const FailureExperiment& experiment);

}  // namespace distbench::report

#endif  // DISTBENCH_REPORT_COMPARISON_TESTING_SIMULATED_GATES_H_
