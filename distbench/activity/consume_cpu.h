#ifndef DISTBENCH_ACTIVITY_CONSUME_CPU_H_
#define DISTBENCH_ACTIVITY_CONSUME_CPU_H_

#include <cstdint>
#include <memory>

#include "distbench/activity/activity.h"

namespace distbench {

// Each iteration fills an array with random numbers, sorts it and sums it up.
// array_size must be at least 1.
std::unique_ptr<Activity> MakeConsumeCpu(int64_t array_size, uint64_t seed);

}  // namespace distbench

#endif  // DISTBENCH_ACTIVITY_CONSUME_CPU_H_
