// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

// Where simulated figures may be far off.

#ifndef DISTBENCH_PRODUCTS_SIMULATION_CALIBRATION_MODEL_VALIDITY_H_
#define DISTBENCH_PRODUCTS_SIMULATION_CALIBRATION_MODEL_VALIDITY_H_

#include <string>
#include <vector>

#include "proto/results.pb.h"

namespace distbench::simulation {

// Says in sentences in what a simulated run differs from what was compared with
// real runs (docs/products/simulation.md): its test, its fabric (with defaults
// and the costs of its drivers filled in), and what came of it (engine_usages
// of its nodes, its run_info). Empty: in nothing.
std::vector<std::string> OutsideOfValidation(const TestResult& result);

}  // namespace distbench::simulation

#endif  // DISTBENCH_PRODUCTS_SIMULATION_CALIBRATION_MODEL_VALIDITY_H_
