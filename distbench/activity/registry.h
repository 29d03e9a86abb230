// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

// All activities by name: those of this folder, and those that products add, in
// their plugin.cc:
//
//   const activity::ActivityPlugin kBurnCpu(
//       {.name = "BurnCpu", .description = "Computes...", ...},
//       {[](const config::ActivityPlan& plan, uint64_t seed) { ... }});

#ifndef DISTBENCH_ACTIVITY_REGISTRY_H_
#define DISTBENCH_ACTIVITY_REGISTRY_H_

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>

#include "absl/status/statusor.h"
#include "distbench/activity/activity.h"
#include "distbench/activity/wait_time.h"
#include "distbench/base/plugins.h"
#include "distbench/config/catalogs/activity_catalog.h"
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

// How MakeActivity() makes one activity. May throw std::bad_alloc or
// std::length_error if there is not enough memory.
struct ActivityMaker {
  absl::StatusOr<std::unique_ptr<Activity>> (*make)(
      const config::ActivityPlan& plan, uint64_t seed);
};

// By the name of the activity.
using ActivityMakers = std::map<std::string, ActivityMaker>;

// Adds an activity to ActivityCatalog() and MakeActivity() when it is
// initialised. It must not only wait.
class ActivityPlugin {
 public:
  ActivityPlugin(const config::ActivityDeclaration& declaration,
                 const ActivityMaker& maker)
      : declaration_(declaration.name,
                     new config::ActivityDeclaration(declaration)),
        maker_(declaration.name, new ActivityMaker(maker)) {}

 private:
  const base::Plugin<config::ActivityDeclaration> declaration_;
  const base::Plugin<ActivityMaker> maker_;
};

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
