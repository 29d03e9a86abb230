// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

// What simulated hosts and instances share: the threads and the memory of the
// machine that simulates them.

#ifndef DISTBENCH_PRODUCTS_SIMULATION_CLUSTER_SHARES_H_
#define DISTBENCH_PRODUCTS_SIMULATION_CLUSTER_SHARES_H_

#include <cstdint>
#include <vector>

#include "distbench/config/plan/plan.h"

namespace distbench::simulation {

// Returns which thread simulates each host, given the hosts that each of them
// calls (a host may be there several times). The threads get about equally many
// callers and called hosts, and hosts that call each other are in one thread
// where that is possible: each is followed by those that it calls or that call
// it, depth first, and the threads divide this order into equal parts.
std::vector<int> HostThreads(const std::vector<std::vector<int>>& called_by,
                             int threads);

// How much memory simulated instances may use for measurements.
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

#endif  // DISTBENCH_PRODUCTS_SIMULATION_CLUSTER_SHARES_H_
