// What the kernel has counted since the host started.

#ifndef DISTBENCH_NODE_HOST_COUNTERS_H_
#define DISTBENCH_NODE_HOST_COUNTERS_H_

#include <sys/types.h>

#include <cstdint>
#include <map>
#include <set>
#include <string>

#include "proto/results.pb.h"

namespace distbench {

// All are read below `root` (empty: the real files). What is missing, or not as
// expected, is absent.

struct CpuTimes {
  HostCounters all;
  std::map<int, HostCounters> by_cpu;  // those that are online
};

// To a clock tick.
CpuTimes ReadCpuTimes(const std::string& root);

// All but the CPU times. Throttling is that of this process's control groups.
HostCounters ReadOtherCounters(const std::string& root);

// How long each thread of this process and the others has waited for a CPU, by
// thread id. Costs some 10 us per thread.
std::map<int, int64_t> ReadRunQueueDelaysNs(const std::string& root,
                                            const std::set<pid_t>& others);

}  // namespace distbench

#endif  // DISTBENCH_NODE_HOST_COUNTERS_H_
