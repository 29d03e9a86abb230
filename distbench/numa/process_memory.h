// Where a process's memory is, and what the kernel has counted of it.

#ifndef DISTBENCH_NUMA_PROCESS_MEMORY_H_
#define DISTBENCH_NUMA_PROCESS_MEMORY_H_

#include <sys/types.h>

#include <cstdint>
#include <map>
#include <string>

#include "proto/results.pb.h"

namespace distbench {

// All read below `root` (empty: the real ones). Empty if there is nothing to
// read.

// Bytes of the process's own memory (heap, stacks, anonymous mappings) by NUMA
// node, from /proc/PID/numa_maps (pid 0: of this process). Mapped files are left out: their pages
// belong to all who use them, and are where they were first read. Looks at all
// pages of the process, which can map no memory meanwhile: to be used before
// and after a measurement, not within.
std::map<int, int64_t> ReadResidentBytesByNode(const std::string& root,
                                               pid_t pid);

// Of the host, since it started, by NUMA node: .../nodeN/numastat.
std::map<int, NumaCounters> ReadNumaCounters(const std::string& root);

// What was added from `before` to `after`.
NumaCounters NumaCountersBetween(const NumaCounters& before,
                                 const NumaCounters& after);

}  // namespace distbench

#endif  // DISTBENCH_NUMA_PROCESS_MEMORY_H_
