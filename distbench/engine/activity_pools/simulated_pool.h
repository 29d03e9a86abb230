#ifndef DISTBENCH_ENGINE_ACTIVITY_POOLS_SIMULATED_POOL_H_
#define DISTBENCH_ENGINE_ACTIVITY_POOLS_SIMULATED_POOL_H_

#include <cstdint>
#include <deque>
#include <memory>
#include <vector>

#include "distbench/base/clock.h"
#include "distbench/engine/activity_pools/activity_recorder.h"
#include "distbench/engine/activity_pools/activity_thread.h"
#include "distbench/engine/activity_pools/iteration_pool.h"

namespace distbench::engine {

// A pool whose threads are simulated. It does no work: iterations take as long
// as their threads say. An iteration has one thread, even if it could use
// several. One thread at a time may call methods.
class SimulatedPool final : public IterationPool {
 public:
  struct Options {
    int activity_count = 0;  // of the plan
    int thread_count = 1;
    const base::Clock* clock;
    ActivityRecorder* recorder;
    ActivityThreadMaker make_thread;
  };
  explicit SimulatedPool(Options options);
  ~SimulatedPool() override;

  void Shutdown() override { Abandon(); }
  void Submit(int activity, Iteration& iteration,
              ActivityListener& listener) override;

  // Those that have begun end at once, and are not counted.
  void DropWaiting() override;

  void AddTo(std::vector<ActivityRecord>& records) override;

 private:
  class Runner;
  struct Request {
    int activity;
    Iteration* iteration;
    ActivityListener* listener;
    int64_t requested_ns;
  };

  std::vector<Request> Abandon();
  Runner* FreeRunner();
  void OnOver(Runner& runner);

  const Options options_;
  std::deque<Request> waiting_;
  std::vector<std::unique_ptr<Runner>> runners_;  // made when needed
  std::vector<Runner*> free_;
  std::vector<ActivityRecord> records_;  // by Plan::activities
  bool dropping_ = false;
};

}  // namespace distbench::engine

#endif  // DISTBENCH_ENGINE_ACTIVITY_POOLS_SIMULATED_POOL_H_
