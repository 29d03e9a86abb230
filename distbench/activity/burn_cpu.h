#ifndef DISTBENCH_ACTIVITY_BURN_CPU_H_
#define DISTBENCH_ACTIVITY_BURN_CPU_H_

#include <cstdint>
#include <memory>

#include "distbench/activity/activity.h"

namespace distbench::activity {

// What is computed with.
enum class Arithmetic {
  kInteger,        // 64 bits
  kFloatingPoint,  // doubles
  kVector,         // eight floats at a time
};

// Each iteration does this many steps of two or three arithmetic instructions,
// which touch no memory. operations must be at least 1.
std::unique_ptr<Activity> MakeBurnCpu(Arithmetic arithmetic, int64_t operations,
                                      uint64_t seed);

}  // namespace distbench::activity

#endif  // DISTBENCH_ACTIVITY_BURN_CPU_H_
