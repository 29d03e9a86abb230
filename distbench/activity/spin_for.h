#ifndef DISTBENCH_ACTIVITY_SPIN_FOR_H_
#define DISTBENCH_ACTIVITY_SPIN_FOR_H_

#include <cstdint>
#include <memory>

#include "distbench/activity/activity.h"

namespace distbench {

// Each iteration uses this much CPU time on its thread. duration_ns must be at
// least 1.
std::unique_ptr<Activity> MakeSpinFor(int64_t duration_ns);

}  // namespace distbench

#endif  // DISTBENCH_ACTIVITY_SPIN_FOR_H_
