// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

#include "distbench/products/simulation/hosts/costs.h"

#include <boost/math/distributions/normal.hpp>
#include <cmath>
#include <cstddef>
#include <string>

#include "absl/status/status.h"
#include "absl/strings/str_join.h"
#include "distbench/config/catalogs/activity_catalog.h"
#include "distbench/engine/activity_pools/activities.h"
#include "distbench/products/simulation/model/given_costs.h"

namespace distbench::simulation {

LognormalFactors::LognormalFactors(double sigma) {
  const boost::math::normal standard;
  double sum = 0;
  for (size_t i = 0; i < factors_.size(); ++i) {
    const double share = (i + 0.5) / factors_.size();
    factors_[i] = std::exp(sigma * boost::math::quantile(standard, share));
    sum += factors_[i];
  }
  for (double& factor : factors_) factor *= factors_.size() / sum;
}

RpcCosts::RpcCosts(const StackCosts& costs)
    : stack(costs),
      variation(costs.sigma()),
      has_batches(costs.server_receive().batch_ns() > 0 ||
                  costs.server_send().batch_ns() > 0 ||
                  costs.client_send().batch_ns() > 0 ||
                  costs.client_receive().batch_ns() > 0) {}

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

}  // namespace distbench::simulation
