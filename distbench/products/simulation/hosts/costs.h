// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

// What RPCs and activities cost on a simulated host, drawn from what the fabric
// says. Immutable, so that all hosts share one.

#ifndef DISTBENCH_PRODUCTS_SIMULATION_HOSTS_COSTS_H_
#define DISTBENCH_PRODUCTS_SIMULATION_HOSTS_COSTS_H_

#include <array>
#include <cstdint>
#include <memory>
#include <vector>

#include "absl/status/statusor.h"
#include "distbench/base/work_random.h"
#include "distbench/config/plan/plan.h"
#include "proto/simulation.pb.h"

namespace distbench::simulation {

// Factors of mean 1 that are lognormally distributed: 1 024 quantiles of that
// distribution, of which each draw chooses one.
class LognormalFactors {
 public:
  // sigma: the standard deviation of the logarithm.
  explicit LognormalFactors(double sigma);

  double Draw(base::WorkRandom& random) const {
    return factors_[random.Below(factors_.size())];
  }

 private:
  std::array<double, 1024> factors_;
};

// The CPU time of a message of so many bytes, without that of its batch.
inline double WorkNs(const StackCosts::Cost& cost, int64_t bytes) {
  return cost.fixed_ns() + cost.ns_per_byte() * static_cast<double>(bytes);
}

// The costs of one driver.
struct RpcCosts {
  explicit RpcCosts(const StackCosts& costs);

  StackCosts stack;
  LognormalFactors variation;

  // Whether messages that have arrived together are received together. Without
  // costs of batches there is nothing that they could share.
  bool has_batches;
};

// The CPU time of an activity's iterations.
struct IterationCosts {
  explicit IterationCosts(const ActivityCosts& costs)
      : cpu_ns(costs.cpu_ns()), variation(costs.sigma()) {}

  double cpu_ns;
  LognormalFactors variation;
};

// By Plan::activities; null if no instance runs the activity, or if it only
// waits.
using CostsByActivity = std::vector<std::unique_ptr<const IterationCosts>>;

// The costs of all activities that instances run. FAILED_PRECONDITION names
// those that the fabric has no costs of, one per line.
absl::StatusOr<CostsByActivity> CostsOfActivities(const SimulatedFabric& fabric,
                                                  const config::Plan& plan);

}  // namespace distbench::simulation

#endif  // DISTBENCH_PRODUCTS_SIMULATION_HOSTS_COSTS_H_
