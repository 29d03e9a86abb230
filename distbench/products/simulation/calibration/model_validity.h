// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

// Where simulated figures may be far off.

#ifndef DISTBENCH_PRODUCTS_SIMULATION_CALIBRATION_MODEL_VALIDITY_H_
#define DISTBENCH_PRODUCTS_SIMULATION_CALIBRATION_MODEL_VALIDITY_H_

#include <string>
#include <vector>

#include "proto/results.pb.h"
#include "proto/simulation.pb.h"
#include "proto/traffic_config.pb.h"

namespace distbench::simulation {

// Says in sentences in what the test, its fabric (with defaults and the costs
// of its drivers filled in) and what came of it (engine_usages of its nodes,
// its run_info) differ from what was compared
// with real runs (docs/products/simulation.md). Empty: in nothing.
std::vector<std::string> OutsideOfValidation(
    const DistributedSystemDescription& test, const SimulatedFabric& fabric,
    int host_count, const TestResult& result);

}  // namespace distbench::simulation

#endif  // DISTBENCH_PRODUCTS_SIMULATION_CALIBRATION_MODEL_VALIDITY_H_
