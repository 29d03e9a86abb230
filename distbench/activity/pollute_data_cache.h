#ifndef DISTBENCH_ACTIVITY_POLLUTE_DATA_CACHE_H_
#define DISTBENCH_ACTIVITY_POLLUTE_DATA_CACHE_H_

#include <cstdint>
#include <memory>

#include "distbench/activity/activity.h"

namespace distbench {

// Each iteration reads this many 8-byte elements at random positions of an
// array. Both sizes must be at least 1.
std::unique_ptr<Activity> MakePolluteDataCache(int64_t array_size,
                                               int64_t reads_per_iteration,
                                               uint64_t seed);

}  // namespace distbench

#endif  // DISTBENCH_ACTIVITY_POLLUTE_DATA_CACHE_H_
