#ifndef DISTBENCH_ACTIVITY_PLAN_SETTINGS_H_
#define DISTBENCH_ACTIVITY_PLAN_SETTINGS_H_

#include <cstdint>
#include <memory>
#include <string>

#include "absl/status/statusor.h"
#include "distbench/activity/activity.h"
#include "distbench/config/plan/plan.h"

namespace distbench {

// Return a setting of an activity, of the type that the catalogue declares.
// Compiled plans have every setting of their activity, with its default where
// the config says nothing.
int64_t Integer(const ActivityPlan& plan, const std::string& name);
const std::string& Text(const ActivityPlan& plan, const std::string& name);

// The settings "parallelism" and "seed", which many activities have.
int Parallelism(const ActivityPlan& plan);
uint64_t Seed(const ActivityPlan& plan);

// The activity, or its error with the plan's name in front.
absl::StatusOr<std::unique_ptr<Activity>> Named(
    const ActivityPlan& plan,
    absl::StatusOr<std::unique_ptr<Activity>> activity);

}  // namespace distbench

#endif  // DISTBENCH_ACTIVITY_PLAN_SETTINGS_H_
