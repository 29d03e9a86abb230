// The activities that read and write files, from their settings.

#ifndef DISTBENCH_ACTIVITY_STORAGE_ACTIVITIES_H_
#define DISTBENCH_ACTIVITY_STORAGE_ACTIVITIES_H_

#include <memory>

#include "absl/status/statusor.h"
#include "distbench/activity/activity.h"
#include "distbench/config/plan/plan.h"

namespace distbench::activity {

// Whether the activity is one of StorageActivities().
bool IsStorageActivity(const config::ActivityPlan& plan);

// Makes such an activity. The error names it, and says what is wrong with its
// directory.
absl::StatusOr<std::unique_ptr<Activity>> MakeStorageActivity(
    const config::ActivityPlan& plan);

}  // namespace distbench::activity

#endif  // DISTBENCH_ACTIVITY_STORAGE_ACTIVITIES_H_
