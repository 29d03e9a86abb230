// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

// What every activity that computes keeps to, whichever product brings it:
//
//   using activity::WorkTest;
//   INSTANTIATE_TEST_SUITE_P(
//       Mine, WorkTest,
//       testing::Values(activity::PlanOf("Compress", 2, {{"bytes", 20'000}})));

#ifndef DISTBENCH_ACTIVITY_TESTING_WORK_CONFORMANCE_H_
#define DISTBENCH_ACTIVITY_TESTING_WORK_CONFORMANCE_H_

#include <cstdint>
#include <map>
#include <string>

#include "distbench/config/catalogs/activity_catalog.h"
#include "distbench/config/plan/plan.h"
#include "gtest/gtest.h"

namespace distbench::activity {

// All settings that the catalog declares, at their defaults or minima.
config::ActivityPlan PlanOf(const config::ActivityDeclaration& declaration);

// Same, with some settings at other values, and with several parts.
config::ActivityPlan PlanOf(const std::string& function, int parallelism,
                            const std::map<std::string, int64_t>& settings);

// The plan of an activity with a checksum, whose iterations read or compute at
// least as much as reading 200 kB.
class WorkTest : public testing::TestWithParam<config::ActivityPlan> {};

}  // namespace distbench::activity

#endif  // DISTBENCH_ACTIVITY_TESTING_WORK_CONFORMANCE_H_
