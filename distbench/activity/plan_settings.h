#ifndef DISTBENCH_ACTIVITY_PLAN_SETTINGS_H_
#define DISTBENCH_ACTIVITY_PLAN_SETTINGS_H_

#include <cstdint>
#include <memory>
#include <string>

#include "absl/status/statusor.h"
#include "distbench/activity/activity.h"
#include "distbench/config/plan/plan.h"

namespace distbench::activity {

// Return a setting of an activity, of the type that the catalogue declares.
// Compiled plans have every setting of their activity, with its default where
// the config says nothing.
int64_t Integer(const config::ActivityPlan& plan, const std::string& name);
const std::string& Text(const config::ActivityPlan& plan,
                        const std::string& name);

// The settings "parallelism" and "seed", which many activities have.
int Parallelism(const config::ActivityPlan& plan);
uint64_t Seed(const config::ActivityPlan& plan);

// The activity, or its error with the plan's name in front.
absl::StatusOr<std::unique_ptr<Activity>> Named(
    const config::ActivityPlan& plan,
    absl::StatusOr<std::unique_ptr<Activity>> activity);

}  // namespace distbench::activity

#endif  // DISTBENCH_ACTIVITY_PLAN_SETTINGS_H_
