#ifndef DISTBENCH_PRODUCTS_SIMULATION_HOSTS_SIMULATED_POOL_H_
#define DISTBENCH_PRODUCTS_SIMULATION_HOSTS_SIMULATED_POOL_H_

#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <vector>

#include "distbench/base/clock.h"
#include "distbench/engine/activity_pools/activity_recorder.h"
#include "distbench/engine/activity_pools/iteration_pool.h"

namespace distbench::simulation {

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

#endif  // DISTBENCH_PRODUCTS_SIMULATION_HOSTS_SIMULATED_POOL_H_
