// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

// What jobs that search have in common.

#ifndef DISTBENCH_PRODUCTS_BENCH_KINDS_SEARCHING_JOBS_H_
#define DISTBENCH_PRODUCTS_BENCH_KINDS_SEARCHING_JOBS_H_

#include "distbench/products/bench/jobs/job_spec.h"
#include "proto/traffic_config.pb.h"

namespace distbench::bench {

// The number, the durations and the precision of probes, as far as the
// properties give them: max_probes, tolerance, warmup, probe and final.
LoadSearchSpec SearchEffortOf(const PropertyValues& values);

// Names of what a search found. How it ended:
inline constexpr char kVerdict[] = "verdict";

// The load, in the unit of the knob.
inline constexpr char kFoundLoad[] = "load";

// The load as a multiple of the config's own; only if the knob is the rate, and
// the load the most that one system carries.
inline constexpr char kRateFactor[] = "rate_factor";

}  // namespace distbench::bench

#endif  // DISTBENCH_PRODUCTS_BENCH_KINDS_SEARCHING_JOBS_H_
