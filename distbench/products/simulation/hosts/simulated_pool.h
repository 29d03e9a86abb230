// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

// The activity pools of engines on simulated hosts. Their threads take CPU
// time, for which they compete with the workers of the host, and do no work.

#ifndef DISTBENCH_PRODUCTS_SIMULATION_HOSTS_SIMULATED_POOL_H_
#define DISTBENCH_PRODUCTS_SIMULATION_HOSTS_SIMULATED_POOL_H_

#include <cstdint>
#include <deque>
#include <memory>
#include <vector>

#include "distbench/base/clock.h"
#include "distbench/base/work_random.h"
#include "distbench/engine/activity_pools/activity_recorder.h"
#include "distbench/engine/activity_pools/iteration_pool.h"
#include "distbench/products/simulation/hosts/cpus.h"
#include "distbench/products/simulation/model/costs.h"

namespace distbench::simulation {

// What the pools of one engine share. Seeds of `random` differ between engines.
struct PoolHost {
  SimulatedCpus* cpus;
  const CostsByActivity* costs;
  base::WorkRandom random;
  double* used_ns;  // the engine's CPU time, to which iterations add theirs
};

// An iteration has one thread, even if it could use several. Used in events of
// the host.
class SimulatedPool final : public engine::IterationPool {
 public:
  // `host` must outlive this.
  SimulatedPool(const engine::IterationPoolOptions& options, PoolHost& host);
  ~SimulatedPool() override;

  void Shutdown() override { Abandon(); }
  void Submit(int activity, engine::Iteration& iteration,
              engine::ActivityListener& listener) override;

  // Those that have begun end at once, and are not counted.
  void DropWaiting() override;

  void AddTo(std::vector<engine::ActivityRecord>& records) override;

 private:
  struct Thread;
  struct Request {
    int activity;
    engine::Iteration* iteration;
    engine::ActivityListener* listener;
    int64_t requested_ns;
  };

  void Run(const Request& request, Thread& thread);
  std::vector<Request> Abandon();
  Thread* FreeThread();
  void OnOver(Thread& thread);

  const int thread_count_;
  const base::Clock& clock_;
  engine::ActivityRecorder& recorder_;
  PoolHost& host_;
  std::deque<Request> waiting_;
  std::vector<std::unique_ptr<Thread>> threads_;  // made when needed
  std::vector<Thread*> free_;
  std::vector<engine::ActivityRecord> records_;  // by Plan::activities
  bool dropping_ = false;
};

}  // namespace distbench::simulation

#endif  // DISTBENCH_PRODUCTS_SIMULATION_HOSTS_SIMULATED_POOL_H_
