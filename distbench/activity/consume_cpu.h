// Activities that only compute.

#ifndef DISTBENCH_ACTIVITY_CONSUME_CPU_H_
#define DISTBENCH_ACTIVITY_CONSUME_CPU_H_

#include <cstdint>
#include <memory>

#include "distbench/activity/activity.h"

namespace distbench::activity {

// Each iteration uses this much CPU time on its thread. duration_ns must be at
// least 1.
std::unique_ptr<Activity> MakeSpinFor(int64_t duration_ns);

// Each iteration fills an array with random numbers, sorts it and sums it up.
// array_size must be at least 1.
std::unique_ptr<Activity> MakeConsumeCpu(int64_t array_size, uint64_t seed);

}  // namespace distbench::activity

#endif  // DISTBENCH_ACTIVITY_CONSUME_CPU_H_
