#ifndef DISTBENCH_ENGINE_ACTIVITY_POOLS_ACTIVITY_THREAD_H_
#define DISTBENCH_ENGINE_ACTIVITY_POOLS_ACTIVITY_THREAD_H_

#include <functional>
#include <memory>

namespace distbench::engine {

// Stands for a thread of an activity pool where iterations take time without
// being done: on simulated hosts. One iteration at a time. All calls come from
// the thread that runs the engine's workers.
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

}  // namespace distbench::engine

#endif  // DISTBENCH_ENGINE_ACTIVITY_POOLS_ACTIVITY_THREAD_H_
