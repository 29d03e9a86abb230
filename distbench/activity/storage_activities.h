// The activities that read and write files, from their settings.

#ifndef DISTBENCH_ACTIVITY_STORAGE_ACTIVITIES_H_
#define DISTBENCH_ACTIVITY_STORAGE_ACTIVITIES_H_

#include "distbench/activity/registry.h"

namespace distbench::activity {

// Those of config::StorageActivities(). An error names the activity, and says
// what is wrong with its directory.
ActivityMakers StorageMakers();

}  // namespace distbench::activity

#endif  // DISTBENCH_ACTIVITY_STORAGE_ACTIVITIES_H_
