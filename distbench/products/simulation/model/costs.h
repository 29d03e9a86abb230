// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

// Whose costs a service's RPCs have, what RPCs and activities cost, as a fabric
// (proto/simulation.proto) says it, and how that varies.

#ifndef DISTBENCH_PRODUCTS_SIMULATION_MODEL_COSTS_H_
#define DISTBENCH_PRODUCTS_SIMULATION_MODEL_COSTS_H_

#include <array>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "distbench/base/work_random.h"
#include "distbench/config/plan/plan.h"
#include "proto/simulation.pb.h"
#include "proto/traffic_config.pb.h"

namespace distbench::simulation {

// The driver that carries a service's RPCs, as far as it matters for what they
// cost.
struct UsedDriver {
  // Not a decorator, and not what an alias ("grpc_async_callback") stands for:
  // its defaults differ, and so do its costs. Empty if this program does not
  // know it, which happens with results of others.
  std::string name;

  // How long idle workers poll; kSpinByCpus (config/plan/driver_options.h) if
  // the host's CPUs decide.
  int64_t spin_us = 0;

  // Names of the other settings that are not as they are by default.
  std::vector<std::string> settings;
};

UsedDriver UsedDriverOf(const DistributedSystemDescription& test,
                        const ServiceSpec& service);

// The costs of a driver's RPCs: those of the fabric if it has them, otherwise
// those of the reference machine (reference_costs.textproto). A decorator has
// none of its own: ask for the driver that it decorates. NOT_FOUND names the
// drivers that have costs.
absl::StatusOr<StackCosts> CostsOfDriver(const SimulatedFabric& fabric,
                                         absl::string_view driver);

// The costs of an activity that computes: those for the test's activity config
// of this name, otherwise those for all of this activity. NOT_FOUND names both
// and the remedy.
absl::StatusOr<ActivityCosts> CostsOfActivity(const SimulatedFabric& fabric,
                                              absl::string_view activity,
                                              absl::string_view name);

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

// The costs of one driver. Immutable, so that all hosts share one.
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

#endif  // DISTBENCH_PRODUCTS_SIMULATION_MODEL_COSTS_H_
