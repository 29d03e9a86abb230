#ifndef DISTBENCH_CONFIG_TESTING_RANDOM_DRIVERS_H_
#define DISTBENCH_CONFIG_TESTING_RANDOM_DRIVERS_H_

#include <string>

#include "distbench/fuzzing/random_source.h"
#include "proto/traffic_config.pb.h"

namespace distbench {

// Replaces what a test says of protocol drivers. In the end all services use
// `driver`: directly, by way of options that name other options, or inside
// decorators. A few of these ways are too long, or lack something.
void DrawDrivers(const std::string& driver, RandomSource& random,
                 DistributedSystemDescription& test);

}  // namespace distbench

#endif  // DISTBENCH_CONFIG_TESTING_RANDOM_DRIVERS_H_
