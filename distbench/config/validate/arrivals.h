// Arrival processes of open loops. Private to validation.

#ifndef DISTBENCH_CONFIG_VALIDATE_ARRIVALS_H_
#define DISTBENCH_CONFIG_VALIDATE_ARRIVALS_H_

#include "distbench/config/validate/test_validation.h"
#include "proto/traffic_config.pb.h"

namespace distbench::config {

// Replaces quantities by numbers. Fills in the rate of a recording, if none is
// given, and the number of iterations, if the recording does not repeat.
void CanonicalizeArrivals(Iterations& iterations);

// Requires iterations with arrivals, at `path`.
void ValidateArrivals(const TestValidation& validation, const Path& path,
                      const Iterations& iterations);

}  // namespace distbench::config

#endif  // DISTBENCH_CONFIG_VALIDATE_ARRIVALS_H_
