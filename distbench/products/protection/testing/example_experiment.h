// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

// An experiment for tests.

#ifndef DISTBENCH_PRODUCTS_PROTECTION_TESTING_EXAMPLE_EXPERIMENT_H_
#define DISTBENCH_PRODUCTS_PROTECTION_TESTING_EXAMPLE_EXPERIMENT_H_

#include <string>

#include "distbench/products/protection/experiment_plan.h"
#include "proto/traffic_config.pb.h"

namespace distbench::protection {

// A canonical test of one client, which asks two servers 100 times a second in
// total, with this text as its experiment.
DistributedSystemDescription ExampleTest(const std::string& experiment);

// The antagonist "hog", two sets of controls, "off" and "on", and phases of 20
// (5), 10, 20 and 5 s.
std::string ExampleExperiment(const std::string& more = "");

// The plan of that, with seed 7 and two workers.
ExperimentPlan ExamplePlan(const std::string& more = "");

}  // namespace distbench::protection

#endif  // DISTBENCH_PRODUCTS_PROTECTION_TESTING_EXAMPLE_EXPERIMENT_H_
