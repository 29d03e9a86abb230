// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

#ifndef DISTBENCH_ENGINE_ACTIVITY_POOLS_ACTIVITIES_H_
#define DISTBENCH_ENGINE_ACTIVITY_POOLS_ACTIVITIES_H_

#include <atomic>
#include <cstdint>
#include <memory>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/status/status.h"
#include "absl/synchronization/mutex.h"
#include "absl/time/time.h"
#include "distbench/activity/wait_time.h"
#include "distbench/base/linked_queue.h"
#include "distbench/config/plan/plan.h"
#include "distbench/engine/activity_pools/activity_recorder.h"
#include "distbench/engine/activity_pools/iteration_pool.h"
#include "distbench/engine/routes/engine_state.h"

namespace distbench::engine {

class WaitRunner;

// An iteration that wants a place. It is a member of the iteration and must not
// move while it is queued.
struct PlaceSeeker {
  Iteration* iteration = nullptr;
  WaitRunner* runner = nullptr;  // of the iteration's worker

  // Since when the place that it was given had been free: monotonic.
  int64_t free_since_ns = 0;

  // Used by WaitPlaces only.
  PlaceSeeker* previous = nullptr;
  PlaceSeeker* next = nullptr;
  bool queued = false;
};

// The places of a pool for activities that wait, given in the order of the
// requests. Blocks nobody. Thread-safe.
class WaitPlaces {
 public:
  explicit WaitPlaces(int count) : free_(count) {}

  // Returns true if the seeker gets a place now; otherwise queues it.
  bool TryTakePlace(PlaceSeeker& seeker);

  // Takes the seeker out of the queue. Returns false if it has already been
  // given a place.
  bool StopWaiting(PlaceSeeker& seeker);

  // Gives a place back. Returns the first seeker in the queue, which now holds
  // the place; null if the queue is empty.
  PlaceSeeker* Free();

 private:
  absl::Mutex mutex_;
  int free_ ABSL_GUARDED_BY(mutex_);
  base::LinkedQueue<PlaceSeeker> queue_ ABSL_GUARDED_BY(mutex_);
};

// The activities of an engine, the pools that run them, and their records.
// Thread-safe.
class Activities {
 public:
  struct Options {
    uint64_t seed = 0;

    // Threads of the default pool, for activities that name none. 0: Submit()
    // does the work itself, for all pools, and only one thread may call it.
    int default_threads = 0;

    // If set, makes the pools. Only one thread at a time may then call methods.
    IterationPoolMaker make_pool = nullptr;
  };

  // Starts the threads that the instance's action lists need. The engine's
  // state must outlive this.
  Activities(const EngineState& engine, const Options& options);

  // RESOURCE_EXHAUSTED if the system cannot provide the threads. Only
  // Shutdown() may be called then.
  absl::Status started() const;

  // Waits until the data of all activities is ready, or until DropWaiting().
  // Returns the errors of IterationPool.
  absl::Status WaitUntilReady(absl::Time deadline);

  // Whether iterations of the activity (index into Plan::activities) only wait
  // instead of computing.
  bool waits(int activity) const { return waits_[activity] != nullptr; }

  // For activities that compute: runs an iteration, then tells the listener.
  void Submit(int activity, Iteration& iteration, ActivityListener& listener);

  // Counts iterations that were due at a monotonic time, whether or not they
  // were run.
  void CountOffered(int activity, int64_t due_ns, int64_t count) {
    recorder_.CountOffered(activity, due_ns, count);
  }

  // From here on, iterations that have not begun count as done without being
  // run, and the others end soon.
  void DropWaiting();

  // Frees what iterations have accumulated; soon, on other threads.
  void Release();

  // Stops telling listeners. Requires that they have been told of everything
  // that was submitted.
  void Shutdown();

  // For activities that wait. places(): the places that they need, or null if
  // none are limited. NextWaitNs(): the duration of the next iteration.
  // AddWait(): records an iteration that is over.
  WaitPlaces* places(int activity) { return waits_[activity]->places; }
  int64_t NextWaitNs(int activity);
  void AddWait(int activity, int64_t requested_ns, int64_t started_ns,
               int64_t done_ns);

  // The records, by Plan::activities, and over time.
  std::vector<ActivityRecord> Records();
  const ActivityRecorder& recorder() const { return recorder_; }

 private:
  struct Waits {
    explicit Waits(activity::WaitTime time) : time(time) {}

    const activity::WaitTime time;
    WaitPlaces* places = nullptr;
    std::atomic<uint64_t> next_number = 0;
    absl::Mutex mutex;
    ActivityRecord record ABSL_GUARDED_BY(mutex);
  };

  void AddWaits(const Options& options);
  void AddPools(const Options& options);

  const EngineState& engine_;
  const config::Plan& plan_;
  ActivityRecorder recorder_;
  std::vector<std::unique_ptr<Waits>> waits_;  // by Plan::activities
  // By Plan::activity_pools; null if nothing needs it.
  std::vector<std::unique_ptr<WaitPlaces>> places_;
  std::vector<std::unique_ptr<IterationPool>> pools_;  // those that are needed
  std::vector<IterationPool*> pool_of_;  // by Plan::activities; null: none
};

// By Plan::activities: whether the action lists of an instance (its main list
// and the handlers of its service) may run the activity.
std::vector<bool> ActivitiesOfInstance(const config::Plan& plan, int instance);

// The part of the instance's recording_memory_bytes for series of activities;
// the rest is for RPCs.
int64_t ActivityRecordingBytes(const config::Plan& plan, int instance);

// Returns the number of threads that an engine of the instance starts for
// activities.
int64_t ActivityThreads(const config::Plan& plan, int instance,
                        int default_threads);

}  // namespace distbench::engine

#endif  // DISTBENCH_ENGINE_ACTIVITY_POOLS_ACTIVITIES_H_
