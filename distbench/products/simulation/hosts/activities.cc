#include "distbench/products/simulation/hosts/activities.h"

#include <string>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/str_join.h"
#include "distbench/config/catalogs/activity_catalog.h"
#include "distbench/engine/activity_pools/activities.h"
#include "distbench/products/simulation/hosts/simulated_pool.h"
#include "distbench/products/simulation/model/cluster_model.h"

namespace distbench::simulation {
namespace {

// By Plan::activities: whether any instance may run it.
std::vector<bool> ActivitiesInUse(const config::Plan& plan) {
  std::vector<bool> in_use(plan.activities.size());
  std::vector<bool> seen(plan.services.size());
  for (size_t i = 0; i < plan.instances.size(); ++i) {
    // Instances of one service run the same.
    const int service = plan.instances[i].service;
    if (seen[service]) continue;
    seen[service] = true;
    const std::vector<bool> of_one =
        engine::ActivitiesOfInstance(plan, static_cast<int>(i));
    for (size_t k = 0; k < of_one.size(); ++k) {
      if (of_one[k]) in_use[k] = true;
    }
  }
  return in_use;
}

}  // namespace

absl::StatusOr<CostsByActivity> CostsOfActivities(const SimulatedFabric& fabric,
                                                  const config::Plan& plan) {
  CostsByActivity costs(plan.activities.size());
  std::vector<std::string> problems;
  const std::vector<bool> in_use = ActivitiesInUse(plan);
  for (size_t i = 0; i < costs.size(); ++i) {
    const config::ActivityPlan& activity = plan.activities[i];
    if (!in_use[i] || config::FindActivity(activity.function)->waits) continue;
    const absl::StatusOr<ActivityCosts> found =
        CostsOfActivity(fabric, activity.function, activity.name);
    if (found.ok()) {
      costs[i] = std::make_unique<IterationCosts>(*found);
    } else {
      problems.emplace_back(found.status().message());
    }
  }
  if (problems.empty()) return costs;
  return absl::FailedPreconditionError(absl::StrJoin(problems, "\n"));
}

class SimulatedActivities::Thread final : public ActivityThread,
                                          private SimulatedThread {
 public:
  Thread(SimulatedActivities& activities, Listener& listener)
      : SimulatedThread(activities.used_ns_),
        activities_(activities),
        listener_(listener) {}

  void Start(int activity) override {
    const IterationCosts& costs = *activities_.costs_[activity];
    const double work_ns =
        costs.cpu_ns * costs.variation.Draw(activities_.random_);
    activities_.cpus_.Submit(*this, work_ns);
  }

 private:
  void OnCpuDone() override { listener_.OnIterationOver(); }

  SimulatedActivities& activities_;
  Listener& listener_;
};

std::unique_ptr<engine::IterationPool> SimulatedActivities::MakePool(
    const engine::IterationPoolOptions& options) {
  return std::make_unique<SimulatedPool>(
      options, [this](ActivityThread::Listener& listener) {
        return std::make_unique<Thread>(*this, listener);
      });
}

}  // namespace distbench::simulation
