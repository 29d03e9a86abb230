#ifndef DISTBENCH_ACTIVITY_REGISTRY_H_
#define DISTBENCH_ACTIVITY_REGISTRY_H_

#include <cstdint>
#include <memory>
#include <optional>

#include "absl/status/statusor.h"
#include "distbench/activity/activity.h"
#include "distbench/activity/wait_time.h"
#include "distbench/config/plan/plan.h"

namespace distbench {

// If the activity that plan.function names does nothing but wait: for how long.
// The engine does that by a timer, without a thread. Else nothing.
std::optional<WaitTime> WaitTimeOf(const ActivityPlan& plan, uint64_t seed);

// Makes any other activity of ActivityCatalog(). The plan has all its settings.
// Equal seeds give equal work. RESOURCE_EXHAUSTED if the system does not give
// it the memory for its data.
absl::StatusOr<std::unique_ptr<Activity>> MakeActivity(const ActivityPlan& plan,
                                                       uint64_t seed);

}  // namespace distbench

#endif  // DISTBENCH_ACTIVITY_REGISTRY_H_
