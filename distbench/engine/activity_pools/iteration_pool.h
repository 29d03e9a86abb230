// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

#ifndef DISTBENCH_ENGINE_ACTIVITY_POOLS_ITERATION_POOL_H_
#define DISTBENCH_ENGINE_ACTIVITY_POOLS_ITERATION_POOL_H_

#include <cstdint>
#include <functional>
#include <memory>
#include <vector>

#include "absl/status/status.h"
#include "absl/time/time.h"
#include "distbench/activity/activity.h"
#include "distbench/base/clock.h"
#include "distbench/config/plan/plan.h"
#include "distbench/stats/log_histogram.h"

namespace distbench::engine {

// The measurements of one activity of one instance, warm-up included.
struct ActivityRecord {
  int64_t iteration_count = 0;
  activity::Work work;

  // The iterations took their time, but did no work.
  bool is_simulated = false;

  // Per iteration: the time from its first work to its last, and the time that
  // it waited before for its turn in the pool.
  stats::LogHistogram duration_ns;
  stats::LogHistogram queueing_ns;

  void Add(int64_t requested_ns, int64_t started_ns, int64_t done_ns) {
    ++iteration_count;
    queueing_ns.Record(started_ns - requested_ns);
    duration_ns.Record(done_ns - started_ns);
  }

  void Merge(const ActivityRecord& other) {
    iteration_count += other.iteration_count;
    work += other.work;
    is_simulated |= other.is_simulated;
    duration_ns.Merge(other.duration_ns);
    queueing_ns.Merge(other.queueing_ns);
  }
};

struct Iteration;

// Learns when an iteration's work is done, on a thread of the pool.
class ActivityListener {
 public:
  virtual ~ActivityListener() = default;
  virtual void OnActivityDone(Iteration& iteration) = 0;
};

// Runs iterations of activities, in the order in which they are submitted, and
// at most as many at a time as it has threads.
class IterationPool {
 public:
  virtual ~IterationPool() = default;

  // RESOURCE_EXHAUSTED if the system cannot provide the threads. Only
  // Shutdown() may be called then.
  virtual absl::Status started() const { return absl::OkStatus(); }

  // Joins the threads and stops telling listeners. Iterations that have not
  // begun are dropped.
  virtual void Shutdown() = 0;

  // Waits until all activities are made, or DropWaiting(). DEADLINE_EXCEEDED if
  // they are not made in time, RESOURCE_EXHAUSTED if there is no memory for
  // one; the pool then runs nothing more.
  virtual absl::Status WaitUntilReady(absl::Time /*deadline*/) {
    return absl::OkStatus();
  }

  // Runs an iteration, then tells the listener.
  virtual void Submit(int activity, Iteration& iteration,
                      ActivityListener& listener) = 0;

  // From here on, iterations that have not begun count as done without being
  // run, and the others end soon.
  virtual void DropWaiting() = 0;

  // Frees what iterations have accumulated; soon, on other threads.
  virtual void Release() {}

  // Adds the measurements to the records, one for each activity of the plan.
  virtual void AddTo(std::vector<ActivityRecord>& records) = 0;
};

class ActivityRecorder;

struct IterationPoolOptions {
  const config::Plan* plan;
  std::vector<int> activities;  // to run here: indices into the plan's
  uint64_t seed = 0;
  int thread_count = 1;
  const base::Clock* clock;

  // Learns of iterations that have ended, unless it is null.
  ActivityRecorder* recorder = nullptr;
};

using IterationPoolMaker =
    std::function<std::unique_ptr<IterationPool>(IterationPoolOptions)>;

}  // namespace distbench::engine

#endif  // DISTBENCH_ENGINE_ACTIVITY_POOLS_ITERATION_POOL_H_
