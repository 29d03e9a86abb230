#ifndef DISTBENCH_ENGINE_RECORDING_ACTIVITY_RECORD_H_
#define DISTBENCH_ENGINE_RECORDING_ACTIVITY_RECORD_H_

#include <cstdint>

#include "distbench/activity/activity.h"
#include "distbench/stats/log_histogram.h"

namespace distbench {

// The measurements of one activity of one instance, warm-up included.
struct ActivityRecord {
  int64_t iteration_count = 0;
  Work work;

  // Per iteration: the time from its first work to its last, and the time that
  // it waited before for its turn in the pool.
  LogHistogram duration_ns;
  LogHistogram queueing_ns;

  void Add(int64_t requested_ns, int64_t started_ns, int64_t done_ns) {
    ++iteration_count;
    queueing_ns.Record(started_ns - requested_ns);
    duration_ns.Record(done_ns - started_ns);
  }
};

}  // namespace distbench

#endif  // DISTBENCH_ENGINE_RECORDING_ACTIVITY_RECORD_H_
