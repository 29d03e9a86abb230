// Activities that compute, as CPU time of simulated hosts.

#ifndef DISTBENCH_PRODUCTS_SIMULATION_HOSTS_ACTIVITIES_H_
#define DISTBENCH_PRODUCTS_SIMULATION_HOSTS_ACTIVITIES_H_

#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <vector>

#include "absl/status/statusor.h"
#include "distbench/base/clock.h"
#include "distbench/base/work_random.h"
#include "distbench/config/plan/plan.h"
#include "distbench/engine/activity_pools/activity_recorder.h"
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
  base::WorkRandom random_;
  double& used_ns_;
};

// Stands for a thread of an activity pool where iterations take time without
// being done. One iteration at a time. All calls come from the thread that runs
// the engine's workers.
class ActivityThread {
 public:
  class Listener {
   public:
    virtual ~Listener() = default;

    // The iteration is over. May start the next one.
    virtual void OnIterationOver() = 0;
  };

  // No calls of the listener follow the destruction.
  virtual ~ActivityThread() = default;

  // Starts an iteration of an activity (index into Plan::activities), of which
  // the listener learns the end later, but not in this call.
  virtual void Start(int activity) = 0;
};

// Makes a thread whose listener outlives it.
using ActivityThreadMaker = std::function<std::unique_ptr<ActivityThread>(
    ActivityThread::Listener& listener)>;

// A pool whose threads are simulated. It does no work: iterations take as long
// as their threads say. An iteration has one thread, even if it could use
// several. One thread at a time may call methods.
class SimulatedPool final : public engine::IterationPool {
 public:
  SimulatedPool(const engine::IterationPoolOptions& options,
                ActivityThreadMaker make_thread);
  ~SimulatedPool() override;

  void Shutdown() override { Abandon(); }
  void Submit(int activity, engine::Iteration& iteration,
              engine::ActivityListener& listener) override;

  // Those that have begun end at once, and are not counted.
  void DropWaiting() override;

  void AddTo(std::vector<engine::ActivityRecord>& records) override;

 private:
  class Runner;
  struct Request {
    int activity;
    engine::Iteration* iteration;
    engine::ActivityListener* listener;
    int64_t requested_ns;
  };

  std::vector<Request> Abandon();
  Runner* FreeRunner();
  void OnOver(Runner& runner);

  const int thread_count_;
  const base::Clock& clock_;
  engine::ActivityRecorder& recorder_;
  const ActivityThreadMaker make_thread_;
  std::deque<Request> waiting_;
  std::vector<std::unique_ptr<Runner>> runners_;  // made when needed
  std::vector<Runner*> free_;
  std::vector<engine::ActivityRecord> records_;  // by Plan::activities
  bool dropping_ = false;
};

}  // namespace distbench::simulation

#endif  // DISTBENCH_PRODUCTS_SIMULATION_HOSTS_ACTIVITIES_H_
