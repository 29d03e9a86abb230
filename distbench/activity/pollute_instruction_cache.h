#ifndef DISTBENCH_ACTIVITY_POLLUTE_INSTRUCTION_CACHE_H_
#define DISTBENCH_ACTIVITY_POLLUTE_INSTRUCTION_CACHE_H_

#include <cstdint>
#include <memory>

#include "distbench/activity/activity.h"

namespace distbench {

// Each iteration makes this many calls (at least 1) to functions chosen at
// random from 10000 different ones.
std::unique_ptr<Activity> MakePolluteInstructionCache(
    int64_t invocations_per_iteration, uint64_t seed);

}  // namespace distbench

#endif  // DISTBENCH_ACTIVITY_POLLUTE_INSTRUCTION_CACHE_H_
