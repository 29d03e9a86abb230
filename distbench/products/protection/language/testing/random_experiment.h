// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

// Random experiments and controls, for tests of their language.

#ifndef DISTBENCH_PRODUCTS_PROTECTION_LANGUAGE_TESTING_RANDOM_EXPERIMENT_H_
#define DISTBENCH_PRODUCTS_PROTECTION_LANGUAGE_TESTING_RANDOM_EXPERIMENT_H_

#include <string>

#include "distbench/fuzzing/random_source.h"
#include "proto/experiment.pb.h"
#include "proto/traffic_config.pb.h"

namespace distbench::protection {

// Returns valid controls, with all services that `glob` matches in one group or
// in none. Engines ignore them; nodes do not.
ControlSet AnyControls(const std::string& glob, fuzzing::RandomSource& random);

// Replaces the test's experiment, and adds an activity for its antagonists. All
// parts of the language are drawn; most experiments fit the test.
void DrawExperiment(fuzzing::RandomSource& random,
                    DistributedSystemDescription& test);

}  // namespace distbench::protection

#endif  // DISTBENCH_PRODUCTS_PROTECTION_LANGUAGE_TESTING_RANDOM_EXPERIMENT_H_
