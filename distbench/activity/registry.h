#ifndef DISTBENCH_ACTIVITY_REGISTRY_H_
#define DISTBENCH_ACTIVITY_REGISTRY_H_

#include <cstdint>
#include <memory>
#include <optional>

#include "absl/status/statusor.h"
#include "distbench/activity/activity.h"
#include "distbench/activity/wait_time.h"
#include "distbench/config/plan/plan.h"

namespace distbench::activity {

// If plan.function only waits, returns how long; otherwise nothing. The engine
// waits with a timer, without a thread.
std::optional<WaitTime> WaitTimeOf(const config::ActivityPlan& plan,
                                   uint64_t seed);

// Creates any other activity of ActivityCatalog(). The plan must have all
// settings. Equal seeds give equal work. RESOURCE_EXHAUSTED if there is not
// enough memory or disk space for the activity's data; other errors say what
// the activity needs that this host does not have.
absl::StatusOr<std::unique_ptr<Activity>> MakeActivity(
    const config::ActivityPlan& plan, uint64_t seed);

}  // namespace distbench::activity

#endif  // DISTBENCH_ACTIVITY_REGISTRY_H_
