// How far simulated figures can be believed: measured errors, and what lies
// outside of them.

#ifndef DISTBENCH_PRODUCTS_SIMULATION_CALIBRATION_MODEL_VALIDITY_H_
#define DISTBENCH_PRODUCTS_SIMULATION_CALIBRATION_MODEL_VALIDITY_H_

#include <string>
#include <vector>

#include "proto/results.pb.h"
#include "proto/simulation.pb.h"
#include "proto/traffic_config.pb.h"

namespace distbench::simulation {

// What bench/simulation/validate has measured (validation_errors.textproto).
const ValidationErrors& MeasuredErrors();

// Says in sentences how far simulated figures were off for tests of this one's
// kinds: of its drivers, on one or several hosts, with open or closed loops.
// Only rates that were off by more than 10 %, medians by more than 20 %, and
// 99th percentiles by more than 30 %, which is aimed at. Kinds that were not
// compared are missing; see OutsideOfValidation().
std::vector<std::string> KnownErrors(const DistributedSystemDescription& test,
                                     int host_count,
                                     const ValidationErrors& measured);

// Where simulated figures may be far off.

// Says in sentences in what the test, its fabric (with defaults and the costs
// of its drivers filled in) and what came of it (engine_usages of its nodes,
// its run_info) differ from what was compared
// with real runs (docs/products/simulation.md). Empty: in nothing.
std::vector<std::string> OutsideOfValidation(
    const DistributedSystemDescription& test, const SimulatedFabric& fabric,
    int host_count, const TestResult& result);

}  // namespace distbench::simulation

#endif  // DISTBENCH_PRODUCTS_SIMULATION_CALIBRATION_MODEL_VALIDITY_H_
