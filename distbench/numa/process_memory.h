// Reads where a process's memory is, and the kernel's NUMA counters.

#ifndef DISTBENCH_NUMA_PROCESS_MEMORY_H_
#define DISTBENCH_NUMA_PROCESS_MEMORY_H_

#include <sys/types.h>

#include <cstdint>
#include <map>
#include <string>

#include "proto/results.pb.h"

namespace distbench {

// All functions read below `root` (empty: the real file system). They return
// empty results if there is nothing to read.

// Bytes of the process's own memory (heap, stacks, anonymous mappings) by NUMA
// node, from /proc/PID/numa_maps (pid 0: this process). Mapped files are left
// out: their pages are shared, and are located where they were first read.
// Reading visits all pages of the process and blocks its memory mappings
// meanwhile, so use it before and after a measurement, not during one.
std::map<int, int64_t> ReadResidentBytesByNode(const std::string& root,
                                               pid_t pid);

// The host's counters since it started, by NUMA node, from .../nodeN/numastat.
std::map<int, NumaCounters> ReadNumaCounters(const std::string& root);

// The increase from `before` to `after`.
NumaCounters NumaCountersBetween(const NumaCounters& before,
                                 const NumaCounters& after);

}  // namespace distbench

#endif  // DISTBENCH_NUMA_PROCESS_MEMORY_H_
