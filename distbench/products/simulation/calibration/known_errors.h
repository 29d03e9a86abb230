#ifndef DISTBENCH_PRODUCTS_SIMULATION_CALIBRATION_KNOWN_ERRORS_H_
#define DISTBENCH_PRODUCTS_SIMULATION_CALIBRATION_KNOWN_ERRORS_H_

#include <string>
#include <vector>

#include "proto/simulation.pb.h"
#include "proto/traffic_config.pb.h"

namespace distbench::simulation {

// What bench/simulation/validate has measured (validation_errors.textproto).
const ValidationErrors& MeasuredErrors();

// Says in sentences how far simulated figures were off for tests of this one's
// kinds: of its drivers, on one or several hosts, with open or closed loops.
// Only rates that were off by more than 10 %, medians by more than 20 %, and
// 99th percentiles by more than 30 %, which is aimed at. Kinds that were not
// compared are missing; see outside_of_validation.h.
std::vector<std::string> KnownErrors(const DistributedSystemDescription& test,
                                     int host_count,
                                     const ValidationErrors& measured);

}  // namespace distbench::simulation

#endif  // DISTBENCH_PRODUCTS_SIMULATION_CALIBRATION_KNOWN_ERRORS_H_
