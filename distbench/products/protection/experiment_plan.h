// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

// An experiment that is ready to run, made from the config of its test.

#ifndef DISTBENCH_PRODUCTS_PROTECTION_EXPERIMENT_PLAN_H_
#define DISTBENCH_PRODUCTS_PROTECTION_EXPERIMENT_PLAN_H_

#include <cstdint>
#include <string>

#include "absl/status/statusor.h"
#include "distbench/products/protection/experiment/phases.h"
#include "proto/traffic_config.pb.h"

namespace distbench::protection {

struct ExperimentOptions {
  // Seed of the order of the cells, and of the traffic in each.
  uint64_t seed = 0;

  // Threads of each instance if the test does not say; 0 leaves that to the
  // sequencer. See subject_record.h for why it should not be.
  int workers_per_instance = 0;
};

struct ExperimentPlan {
  // The experiment with every default made explicit.
  Experiment experiment;
  PhaseDurations phases;
  uint64_t seed = 0;

  // Whether the test asked for the same arrivals in each run.
  bool has_own_seed = false;

  // The test that all cells are made from, canonical: without its experiment,
  // with its seed and workers. Instances that have antagonists beside them are
  // in bundles, so that every cell places the subject alike.
  DistributedSystemDescription subject;
  std::string rpc;

  // Requests per second of the RPC in the test as it is; 0 if only closed loops
  // send it.
  double own_rate = 0;
};

// Plans the experiment of a canonical test. INVALID_ARGUMENT if the test has
// none, or if one of the cells would be no valid test, which its checks (such
// as those of limits) only then tell.
absl::StatusOr<ExperimentPlan> PlanExperiment(
    const DistributedSystemDescription& test, const ExperimentOptions& options);

}  // namespace distbench::protection

#endif  // DISTBENCH_PRODUCTS_PROTECTION_EXPERIMENT_PLAN_H_
