#ifndef DISTBENCH_ACTIVITY_IO_LATENCIES_H_
#define DISTBENCH_ACTIVITY_IO_LATENCIES_H_

#include <cstdint>

#include "absl/base/thread_annotations.h"
#include "absl/synchronization/mutex.h"
#include "distbench/base/clock.h"
#include "distbench/stats/log_histogram.h"

namespace distbench::activity {

// How long single reads and writes took, in nanoseconds. Thread-safe.
class IoLatencies {
 public:
  // Does the operation, measures it, and returns its result.
  template <typename Operation>
  bool Read(Operation operation) ABSL_LOCKS_EXCLUDED(mutex_) {
    const int64_t start_ns = base::RealClock().MonotonicNs();
    const bool is_done = operation();
    const int64_t duration_ns = base::RealClock().MonotonicNs() - start_ns;
    absl::MutexLock lock(&mutex_);
    reads_.Record(duration_ns);
    return is_done;
  }
  template <typename Operation>
  bool Write(Operation operation) ABSL_LOCKS_EXCLUDED(mutex_) {
    const int64_t start_ns = base::RealClock().MonotonicNs();
    const bool is_done = operation();
    const int64_t duration_ns = base::RealClock().MonotonicNs() - start_ns;
    absl::MutexLock lock(&mutex_);
    writes_.Record(duration_ns);
    return is_done;
  }

  // Moves what was measured since the previous call to the histograms, in
  // addition to what they have.
  void Take(stats::LogHistogram& reads, stats::LogHistogram& writes)
      ABSL_LOCKS_EXCLUDED(mutex_) {
    absl::MutexLock lock(&mutex_);
    reads.Merge(reads_);
    writes.Merge(writes_);
    reads_.Clear();
    writes_.Clear();
  }

 private:
  absl::Mutex mutex_;
  stats::LogHistogram reads_ ABSL_GUARDED_BY(mutex_);
  stats::LogHistogram writes_ ABSL_GUARDED_BY(mutex_);
};

}  // namespace distbench::activity

#endif  // DISTBENCH_ACTIVITY_IO_LATENCIES_H_
