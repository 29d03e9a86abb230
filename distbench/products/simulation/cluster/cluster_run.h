// One test on a simulated cluster: its engines on their hosts, from set-up to
// the result.

#ifndef DISTBENCH_PRODUCTS_SIMULATION_CLUSTER_CLUSTER_RUN_H_
#define DISTBENCH_PRODUCTS_SIMULATION_CLUSTER_CLUSTER_RUN_H_

#include <atomic>
#include <chrono>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/status/status.h"
#include "absl/synchronization/mutex.h"
#include "distbench/config/plan/plan.h"
#include "distbench/engine/engine.h"
#include "distbench/products/simulation/cluster/simulated_cluster.h"
#include "distbench/products/simulation/hosts/costs.h"
#include "distbench/products/simulation/hosts/cpus.h"
#include "distbench/products/simulation/hosts/simulated_driver.h"
#include "distbench/products/simulation/hosts/simulated_pool.h"
#include "distbench/products/simulation/kernel/simulator.h"
#include "distbench/products/simulation/model/cluster_model.h"
#include "distbench/products/simulation/network/network.h"
#include "distbench/sequencer/placement/placement.h"

namespace distbench::simulation {

// The methods are called once each, in the order of their declaration.
class ClusterRun {
 public:
  // All arguments must outlive this. `placement` is one of the test on
  // model.host_count nodes.
  ClusterRun(const DistributedSystemDescription& test,
             const ClusterModel& model, const sequencer::Placement& placement,
             const ClusterRunOptions& options);
  ~ClusterRun();

  // Makes hosts and engines, and connects them.
  absl::Status SetUp();

  // Runs until the traffic has ended, by itself or because the test's time is
  // up, a limit is exceeded or the user has cancelled it.
  void RunTraffic();

  // Ends the engines, and adds what they have measured.
  void Collect(TestResult& result);

 private:
  // The costs of a driver, as given and as used.
  struct DriverCosts {
    StackCosts given;
    RpcCosts used;
  };
  // An engine that has ended the traffic of all.
  struct Overload {
    int64_t at_ns;
    int instance;
    absl::Status status;
  };
  // What belongs to an instance, without its engine. Changed in events of its
  // host, thus away from those of other threads.
  struct alignas(64) Part {
    int host = 0;
    double used_ns = 0;  // CPU time
    double used_until_end_ns = 0;
    int64_t finished_ns = 0;  // when its traffic ended
    std::optional<PoolHost> activities;
  };
  using RealTime = std::chrono::steady_clock::time_point;

  absl::Status AddEngine(int instance, int workers);
  absl::StatusOr<const RpcCosts*> CostsOf(const std::string& driver);
  void DescribeSimulation(SimulationFacts& facts) const;
  void Connect();
  void AssignThreads();
  bool IsOver();
  bool HasOverload();
  int64_t TrafficEndNs() const;
  void ReportProgress();
  int64_t now_ns() const { return simulator_.now_ns(); }
  static std::string AliasOf(int host);

  const ClusterModel& model_;
  const sequencer::Placement& placement_;
  const ClusterRunOptions& options_;
  const std::shared_ptr<const config::Plan> plan_;
  const int64_t sample_bytes_;  // of each instance, at most
  Simulator simulator_;
  SimulatedNetwork network_;
  SimulatedDirectory directory_;
  std::vector<std::string> driver_of_service_;  // whose costs its RPCs have
  std::map<std::string, std::unique_ptr<DriverCosts>> costs_;  // by driver
  std::vector<std::unique_ptr<SimulatedCpus>> cpus_;           // by host
  CostsByActivity activity_costs_;
  // By Plan::instances.
  std::vector<Part> parts_;
  std::vector<std::unique_ptr<engine::Engine>> engines_;

  int64_t start_ns_ = 0;
  int64_t end_ns_ = 0;  // of the traffic
  std::atomic<int> unfinished_ = 0;
  absl::Status failure_;
  bool is_overload_ = false;
  RealTime next_progress_;
  int windows_until_look_ = 0;

  absl::Mutex mutex_;
  std::vector<Overload> overloads_ ABSL_GUARDED_BY(mutex_);
};

// Returns which thread simulates each host, given the hosts that each of them
// calls (a host may be there several times). The threads get about equally many
// callers and called hosts, and hosts that call each other are in one thread
// where that is possible: callers come first, each followed by the hosts that
// it calls and that are not there yet, and so on, and the threads divide this
// order into equal parts.
std::vector<int> HostThreads(const std::vector<std::vector<int>>& called_by,
                             int threads);

// How much memory simulated instances may use for measurements: on real hosts
// each has its own, here they share that of one.

struct MemoryShares {
  int64_t recording_bytes = 0;  // of each instance; see Plan
  int64_t sample_bytes = 0;     // of each that sends RPCs, at most
};

// What the test allows, but in total at most `memory_bytes`, of which samples
// have a fifth. Instances that neither send RPCs nor run activities measure
// nothing. Depends on nothing else, so that results are the same on any
// machine.
MemoryShares ShareMemory(const config::Plan& plan, int64_t memory_bytes);

}  // namespace distbench::simulation

#endif  // DISTBENCH_PRODUCTS_SIMULATION_CLUSTER_CLUSTER_RUN_H_
