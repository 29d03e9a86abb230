// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

// From Arrivals messages to what streams are drawn from, and their mean rates.

#ifndef DISTBENCH_CONFIG_ARRIVALS_COMPILE_ARRIVALS_H_
#define DISTBENCH_CONFIG_ARRIVALS_COMPILE_ARRIVALS_H_

#include <cstdint>

#include "distbench/config/arrivals/arrival_plan.h"
#include "proto/traffic_config.pb.h"

namespace distbench::config {

// Requires a message that passed validation, with its files read.
ArrivalPlan CompileArrivals(const Arrivals& arrivals);

// The mean rate per second at which an open loop's iterations are due: over
// max_duration_us or, without one, in the long run; 0 for a closed loop. Of
// arrivals that are invalid, it is the rate alone.
// Modulations with very many pieces in that time are taken as independent of
// each other. Without max_duration_us, all are.
double MeanRatePerSecond(const Iterations& iterations);

// The warm-up of an action in nanoseconds, as far as the config determines it:
// how fast a closed loop iterates is not known in advance.
double WarmupNs(const Iterations& iterations);

// Whether the rate is meant to change over time, beyond chance; that of a test,
// if that of any of its actions is.
bool HasVaryingRate(const Arrivals& arrivals);
bool HasVaryingRate(const DistributedSystemDescription& test);

// The index of dispersion of counts over long times (their variance / their
// mean) while the rate does not vary: 0 for constant gaps, 1 for a Poisson
// process. That of a renewal process is the squared coefficient of variation of
// its gaps (Cox and Lewis, The Statistical Analysis of Series of Events, 1966,
// section 4.5); thinning brings it nearer to 1. For recordings, the square is
// of the gaps alone, whatever their order.
double IndexOfDispersion(const ArrivalPlan& plan);

// The seed of an action's arrivals, which all workers of an instance share.
// `list` is the position of its action list in the test, `action` that of the
// action in the list, and `run` tells executions of the list apart.
uint64_t ArrivalSeed(uint64_t test_seed, int list, int action, int64_t run);

}  // namespace distbench::config

#endif  // DISTBENCH_CONFIG_ARRIVALS_COMPILE_ARRIVALS_H_
