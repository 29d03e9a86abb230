// Activities that compute, as CPU time of simulated hosts.

#ifndef DISTBENCH_PRODUCTS_SIMULATION_HOSTS_ACTIVITIES_H_
#define DISTBENCH_PRODUCTS_SIMULATION_HOSTS_ACTIVITIES_H_

#include <cstdint>
#include <memory>
#include <vector>

#include "absl/status/statusor.h"
#include "distbench/activity/work_random.h"
#include "distbench/config/plan/plan.h"
#include "distbench/engine/activity_pools/iteration_pool.h"
#include "distbench/products/simulation/hosts/costs.h"
#include "distbench/products/simulation/hosts/cpus.h"
#include "proto/simulation.pb.h"

namespace distbench::simulation {

// The CPU time of an activity's iterations. Immutable, so that all hosts share
// one.
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

// The threads of the activity pools of one engine. They compete with its
// workers for the host's CPUs. Used in events of the host.
class SimulatedActivities {
 public:
  // The references must outlive this. Seeds differ between engines. used_ns:
  // the CPU time of the engine, to which that of iterations is added, including
  // those that were stopped.
  SimulatedActivities(SimulatedCpus& cpus, const CostsByActivity& costs,
                      uint64_t seed, double& used_ns)
      : cpus_(cpus), costs_(costs), random_(seed), used_ns_(used_ns) {}

  // For EngineOptions::make_iteration_pool. This must outlive the pools.
  std::unique_ptr<engine::IterationPool> MakePool(
      const engine::IterationPoolOptions& options);

 private:
  class Thread;

  SimulatedCpus& cpus_;
  const CostsByActivity& costs_;
  activity::WorkRandom random_;
  double& used_ns_;
};

}  // namespace distbench::simulation

#endif  // DISTBENCH_PRODUCTS_SIMULATION_HOSTS_ACTIVITIES_H_
