// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

// What the hosts lack for cells of an experiment, before any of them is run.

#ifndef DISTBENCH_PRODUCTS_PROTECTION_IMPOSSIBLE_CELLS_H_
#define DISTBENCH_PRODUCTS_PROTECTION_IMPOSSIBLE_CELLS_H_

#include <string>
#include <vector>

#include "absl/functional/function_ref.h"
#include "distbench/products/protection/experiment_plan.h"
#include "proto/results.pb.h"
#include "proto/traffic_config.pb.h"

namespace distbench::protection {

// Says why the hosts cannot run a test; nothing if they can.
using WhyImpossible = absl::FunctionRef<std::vector<std::string>(
    const DistributedSystemDescription& test)>;

// Returns a sentence for each reason for which cells that the results do not
// hold yet cannot be run: which cells, how many runs of all, and the reason.
std::vector<std::string> ImpossibleCells(const ExperimentPlan& plan,
                                         const TestSequenceResults& results,
                                         WhyImpossible why);

}  // namespace distbench::protection

#endif  // DISTBENCH_PRODUCTS_PROTECTION_IMPOSSIBLE_CELLS_H_
