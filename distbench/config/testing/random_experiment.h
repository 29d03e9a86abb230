#ifndef DISTBENCH_CONFIG_TESTING_RANDOM_EXPERIMENT_H_
#define DISTBENCH_CONFIG_TESTING_RANDOM_EXPERIMENT_H_

#include "distbench/fuzzing/random_source.h"
#include "proto/traffic_config.pb.h"

namespace distbench::config {

// Replaces the test's experiment, and adds an activity for its antagonists. All
// parts of the language are drawn; most experiments fit the test.
void DrawExperiment(fuzzing::RandomSource& random,
                    DistributedSystemDescription& test);

}  // namespace distbench::config

#endif  // DISTBENCH_CONFIG_TESTING_RANDOM_EXPERIMENT_H_
