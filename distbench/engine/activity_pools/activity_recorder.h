// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

#ifndef DISTBENCH_ENGINE_ACTIVITY_POOLS_ACTIVITY_RECORDER_H_
#define DISTBENCH_ENGINE_ACTIVITY_POOLS_ACTIVITY_RECORDER_H_

#include <cstdint>
#include <memory>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/synchronization/mutex.h"
#include "distbench/activity/activity.h"
#include "distbench/stats/interval_series.h"
#include "distbench/stats/log_histogram.h"

namespace distbench::engine {

// Records the work of an engine's activities over time: per second of Unix
// time, warm-up included. Times are monotonic, in nanoseconds. The series of
// all activities have one budget; when it is used up, their intervals are
// doubled, in small steps once a second, as those of RPCs. Thread-safe.
class ActivityRecorder {
 public:
  struct Options {
    int activity_count = 0;
    int64_t recording_memory_bytes = 0;

    // Add this to monotonic time to get Unix time.
    int64_t unix_offset_ns = 0;
  };

  explicit ActivityRecorder(const Options& options);

  // Counts iterations that were due.
  void CountOffered(int activity, int64_t due_ns, int64_t count)
      ABSL_LOCKS_EXCLUDED(mutex_);

  // Counts an iteration that has ended, and its work; also the latencies of its
  // reads and writes, unless the activity that did it is null.
  void CountDone(int activity, int64_t done_ns, const activity::Work& work,
                 activity::Activity* activity_that_did_it = nullptr)
      ABSL_LOCKS_EXCLUDED(mutex_);

  // The series of an activity, in the words of results/time_series.h; null
  // if nothing was counted. Valid as long as nothing more is.
  const stats::IntervalSeries* series(int activity) const
      ABSL_LOCKS_EXCLUDED(mutex_);

  // The memory that the series use.
  int64_t recording_memory_bytes() const ABSL_LOCKS_EXCLUDED(mutex_);

 private:
  int64_t StepOf(int64_t time_ns) const {
    return (time_ns + unix_offset_ns_) / stats::kSeriesStepNs;
  }
  stats::IntervalSeries& SeriesAt(int activity, int64_t step)
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  void OnNewSecond() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);

  const int64_t recording_memory_bytes_;
  const int64_t unix_offset_ns_;

  mutable absl::Mutex mutex_;
  std::vector<std::unique_ptr<stats::IntervalSeries>> series_
      ABSL_GUARDED_BY(mutex_);  // by activity
  std::vector<stats::IntervalSeries*> all_series_ ABSL_GUARDED_BY(mutex_);
  int64_t width_ ABSL_GUARDED_BY(mutex_) = 1;
  int64_t last_step_ ABSL_GUARDED_BY(mutex_) = 0;

  // Empty between calls; they keep their memory.
  stats::LogHistogram read_ns_ ABSL_GUARDED_BY(mutex_);
  stats::LogHistogram write_ns_ ABSL_GUARDED_BY(mutex_);
};

}  // namespace distbench::engine

#endif  // DISTBENCH_ENGINE_ACTIVITY_POOLS_ACTIVITY_RECORDER_H_
