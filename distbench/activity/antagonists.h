#ifndef DISTBENCH_ACTIVITY_ANTAGONISTS_H_
#define DISTBENCH_ACTIVITY_ANTAGONISTS_H_

#include <cstdint>
#include <memory>

#include "absl/status/statusor.h"
#include "distbench/activity/activity.h"
#include "distbench/config/plan/plan.h"

namespace distbench::activity {

// Whether the plan is for one of AntagonistActivities().
bool IsAntagonist(const config::ActivityPlan& plan);

// MakeActivity() for these. Throws std::bad_alloc or std::length_error if there
// is not enough memory.
absl::StatusOr<std::unique_ptr<Activity>> MakeAntagonist(
    const config::ActivityPlan& plan, uint64_t seed);

}  // namespace distbench::activity

#endif  // DISTBENCH_ACTIVITY_ANTAGONISTS_H_
