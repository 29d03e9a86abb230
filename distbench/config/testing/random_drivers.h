// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

#ifndef DISTBENCH_CONFIG_TESTING_RANDOM_DRIVERS_H_
#define DISTBENCH_CONFIG_TESTING_RANDOM_DRIVERS_H_

#include <string>

#include "distbench/fuzzing/random_source.h"
#include "proto/traffic_config.pb.h"

namespace distbench::config {

// Replaces the test's protocol drivers. All services end up with `driver`:
// directly, through options that name other options, or inside decorators. A
// few of these chains are too long or incomplete.
void DrawDrivers(const std::string& driver, fuzzing::RandomSource& random,
                 DistributedSystemDescription& test);

}  // namespace distbench::config

#endif  // DISTBENCH_CONFIG_TESTING_RANDOM_DRIVERS_H_
