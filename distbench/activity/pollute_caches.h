// Activities that replace what a CPU's caches contain.

#ifndef DISTBENCH_ACTIVITY_POLLUTE_CACHES_H_
#define DISTBENCH_ACTIVITY_POLLUTE_CACHES_H_

#include <cstdint>
#include <memory>

#include "distbench/activity/activity.h"

namespace distbench::activity {

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

#endif  // DISTBENCH_ACTIVITY_POLLUTE_CACHES_H_
