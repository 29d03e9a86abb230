#ifndef DISTBENCH_ENGINE_ACTIVITIES_ACTIVITIES_H_
#define DISTBENCH_ENGINE_ACTIVITIES_ACTIVITIES_H_

#include <atomic>
#include <cstdint>
#include <memory>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/status/status.h"
#include "absl/synchronization/mutex.h"
#include "absl/time/time.h"
#include "distbench/activity/wait_time.h"
#include "distbench/base/clock.h"
#include "distbench/config/plan/plan.h"
#include "distbench/engine/activities/activity_pool.h"
#include "distbench/engine/activities/wait_places.h"
#include "distbench/engine/recording/activity_record.h"

namespace distbench {

// The activities of an engine, the pools in which they are done, and what they
// have done. Thread-safe.
class Activities {
 public:
  struct Options {
    const Plan* plan;
    int instance = 0;
    uint64_t seed = 0;

    // Of the pool for activities that name none. 0: Submit() does the work
    // itself, in all pools, and may be called by one thread only.
    int default_threads = 0;
    const Clock* clock;
  };

  // Starts the threads that the instance's own lists have work for.
  explicit Activities(const Options& options);

  // RESOURCE_EXHAUSTED if the system has not enough threads. Then all that may
  // be called is Shutdown().
  absl::Status started() const;

  // Waits until the data of all activities is made, or DropWaiting(); errors as
  // ActivityPool has them.
  absl::Status WaitUntilReady(absl::Time deadline);

  // Whether iterations of the activity (index into Plan::activities) only wait.
  bool waits(int activity) const { return waits_[activity] != nullptr; }

  // Of activities that compute: has an iteration done, and the listener told.
  void Submit(int activity, Iteration& iteration, ActivityListener& listener);

  // What has not begun counts as done from here on, without being done.
  void DropWaiting();

  // Listeners are told of nothing any more. Requires that they have been told
  // of all that was submitted.
  void Shutdown();

  // Of activities that wait: the places that they need; null: none. How long
  // the next iteration waits; and counts one that has.
  WaitPlaces* places(int activity) { return waits_[activity]->places; }
  int64_t NextWaitNs(int activity);
  void AddWait(int activity, int64_t requested_ns, int64_t started_ns,
               int64_t done_ns);

  // What was done, by Plan::activities.
  std::vector<ActivityRecord> Records();

 private:
  struct Waits {
    explicit Waits(WaitTime time) : time(time) {}

    const WaitTime time;
    WaitPlaces* places = nullptr;
    std::atomic<uint64_t> next_number = 0;
    absl::Mutex mutex;
    ActivityRecord record ABSL_GUARDED_BY(mutex);
  };

  void AddWaits(const Options& options);
  void AddPools(const Options& options);

  const Plan& plan_;
  std::vector<std::unique_ptr<Waits>> waits_;  // by Plan::activities
  // By Plan::activity_pools, then the default; null if nothing needs it.
  std::vector<std::unique_ptr<WaitPlaces>> places_;
  std::vector<std::unique_ptr<ActivityPool>> pools_;
};

// By Plan::activities: whether the lists of an instance, its main list and the
// handlers of its service, may do it.
std::vector<bool> ActivitiesOfInstance(const Plan& plan, int instance);

// How many threads an engine of the instance starts for them.
int64_t ActivityThreads(const Plan& plan, int instance, int default_threads);

}  // namespace distbench

#endif  // DISTBENCH_ENGINE_ACTIVITIES_ACTIVITIES_H_
