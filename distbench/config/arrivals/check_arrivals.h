#ifndef DISTBENCH_CONFIG_ARRIVALS_CHECK_ARRIVALS_H_
#define DISTBENCH_CONFIG_ARRIVALS_CHECK_ARRIVALS_H_

#include <cstdint>

#include "distbench/config/problems/problem.h"
#include "proto/traffic_config.pb.h"

namespace distbench::config {

// The longest mean time between iterations.
inline constexpr int64_t kMaxIntervalNs = 1'000'000'000'000'000;

// Fills in the rate of a recording, if none is given, and the number of
// iterations, if the recording does not repeat. Requires canonical fields.
// Leaves a recording alone that CheckArrivals() complains about.
void CanonicalizeArrivals(Iterations& iterations);

// Adds a problem for everything that is wrong with the message, which is at
// `path`. A canonical message without problems can be compiled.
void CheckArrivals(const Arrivals& arrivals, const Path& path,
                   Problems& problems);

// The same without the rules of single fields (proto/rules.proto).
void CheckArrivalsBetweenFields(const Arrivals& arrivals, const Path& path,
                                Problems& problems);

}  // namespace distbench::config

#endif  // DISTBENCH_CONFIG_ARRIVALS_CHECK_ARRIVALS_H_
