// The CPU time that this process and its threads have used.

#ifndef DISTBENCH_BASE_CPU_TIME_H_
#define DISTBENCH_BASE_CPU_TIME_H_

#include <cstdint>
#include <ctime>

#include "distbench/base/time_units.h"

namespace distbench::base {

// CPU time of this process, user plus system, in seconds.
double ProcessCpuSeconds();

// CPU time of the calling thread, in nanoseconds.
inline int64_t ThreadCpuNs() {
  timespec now;
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return kNsPerSecond * now.tv_sec + now.tv_nsec;
}

}  // namespace distbench::base

#endif  // DISTBENCH_BASE_CPU_TIME_H_
