// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

// Activities that read memory so that caches do not help, or lose what they
// held.

#ifndef DISTBENCH_ACTIVITY_MEMORY_ACCESS_H_
#define DISTBENCH_ACTIVITY_MEMORY_ACCESS_H_

#include <cstdint>
#include <memory>
#include <vector>

#include "distbench/activity/activity.h"

namespace distbench::activity {

struct PointerChaseOptions {
  int64_t bytes = 64;  // size of the memory; at least 64
  int64_t hops = 1;    // per iteration
  int parallelism = 1;
  uint64_t seed = 0;
};

// Each iteration follows pointers. Each pointer is on a different cache line,
// and is only known once the previous one has been read. The array is one cycle
// of all its lines.
std::unique_ptr<Activity> MakePointerChase(const PointerChaseOptions& options);

// A permutation of 0 to count - 1 that is a single cycle, drawn uniformly from
// all such permutations: Sattolo, "An algorithm to generate a random cyclic
// permutation", 1986. count must be at least 1.
std::vector<uint64_t> RandomCycle(int64_t count, uint64_t seed);

// Activities that replace what a CPU's caches contain.

// Each iteration reads this many 8-byte elements at random positions of an
// array. Both sizes must be at least 1.
std::unique_ptr<Activity> MakePolluteDataCache(int64_t array_size,
                                               int64_t reads_per_iteration,
                                               uint64_t seed);

// More code than instruction caches can hold: distinct functions, each on its
// own cache lines.
inline constexpr int kManyFunctions = 10'000;

// Passes a value through function `which`, from 0 to kManyFunctions - 1.
uint64_t CallFunction(uint64_t which, uint64_t value);

// Each iteration makes this many calls (at least 1) to functions chosen at
// random from 10000 different ones.
std::unique_ptr<Activity> MakePolluteInstructionCache(
    int64_t invocations_per_iteration, uint64_t seed);

}  // namespace distbench::activity

#endif  // DISTBENCH_ACTIVITY_MEMORY_ACCESS_H_
