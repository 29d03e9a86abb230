// Activities that compute, as CPU time of simulated hosts.

#ifndef DISTBENCH_SIMULATION_HOSTS_ACTIVITIES_H_
#define DISTBENCH_SIMULATION_HOSTS_ACTIVITIES_H_

#include <cstdint>
#include <memory>
#include <vector>

#include "absl/status/statusor.h"
#include "distbench/activity/work_random.h"
#include "distbench/config/plan/plan.h"
#include "distbench/engine/activity_pools/activity_thread.h"
#include "distbench/simulation/hosts/costs.h"
#include "distbench/simulation/hosts/cpus.h"
#include "proto/simulation.pb.h"

namespace distbench {

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
                                                  const Plan& plan);

// The threads of the activity pools of one engine. They compete with its
// workers for the host's CPUs. Used in events of the host.
class SimulatedActivities {
 public:
  // `cpus` and `costs` must outlive this. Seeds differ between engines.
  SimulatedActivities(SimulatedCpus& cpus, const CostsByActivity& costs,
                      uint64_t seed)
      : cpus_(cpus), costs_(costs), random_(seed) {}

  // For EngineOptions::make_activity_thread. This must outlive the threads.
  std::unique_ptr<ActivityThread> MakeThread(
      ActivityThread::Listener& listener);

  // CPU time that iterations have used, including those that were stopped.
  double used_ns() const { return used_ns_; }

 private:
  class Thread;

  SimulatedCpus& cpus_;
  const CostsByActivity& costs_;
  WorkRandom random_;
  double used_ns_ = 0;
};

}  // namespace distbench

#endif  // DISTBENCH_SIMULATION_HOSTS_ACTIVITIES_H_
