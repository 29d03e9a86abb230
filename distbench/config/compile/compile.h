// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

#ifndef DISTBENCH_CONFIG_COMPILE_COMPILE_H_
#define DISTBENCH_CONFIG_COMPILE_COMPILE_H_

#include "distbench/config/plan/plan.h"
#include "proto/traffic_config.pb.h"

namespace distbench::config {

// Compiles a test that CheckTestSequence() (check.h) returned; any other test
// is undefined behaviour. Indices in the plan are positions in the test, except
// for distributions and actions, which the plan numbers itself.
Plan Compile(const DistributedSystemDescription& test);

}  // namespace distbench::config

#endif  // DISTBENCH_CONFIG_COMPILE_COMPILE_H_
