// How much memory simulated instances may use for measurements: on real hosts
// each has its own, here they share that of one.

#ifndef DISTBENCH_PRODUCTS_SIMULATION_CLUSTER_MEMORY_SHARES_H_
#define DISTBENCH_PRODUCTS_SIMULATION_CLUSTER_MEMORY_SHARES_H_

#include <cstdint>

#include "distbench/config/plan/plan.h"

namespace distbench::simulation {

struct MemoryShares {
  int64_t recording_bytes = 0;  // of each instance; see Plan
  int64_t sample_bytes = 0;     // of each that sends RPCs, at most
};

// What the test allows, but in total at most `memory_bytes`, of which samples
// have a fifth. Instances that neither send RPCs nor run activities measure
// nothing. Depends on nothing else, so that results are the same on any
// machine.
MemoryShares ShareMemory(const config::Plan& plan, int64_t memory_bytes);

}  // namespace distbench::simulation

#endif  // DISTBENCH_PRODUCTS_SIMULATION_CLUSTER_MEMORY_SHARES_H_
