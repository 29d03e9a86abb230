// Reads the kernel's statistics of single threads of a process.

#ifndef DISTBENCH_NUMA_THREAD_USAGE_H_
#define DISTBENCH_NUMA_THREAD_USAGE_H_

#include <sys/types.h>

#include <cstdint>
#include <optional>
#include <set>
#include <string>

#include "distbench/base/index_list.h"

namespace distbench {

// All functions read /proc/PID/task below `root` (empty: the real one). pid 0
// means this process.

// The ids of all threads.
std::set<int> ReadThreadIds(const std::string& root, pid_t pid);

// Usage since the start of the thread.
struct ThreadUsage {
  int64_t cpu_ns = 0;
  int last_cpu = 0;  // where it runs, or last ran
  IndexSet allowed_cpus;
  int64_t voluntary_context_switches = 0;
  int64_t involuntary_context_switches = 0;

  // Moves to another CPU; absent if the kernel does not count them.
  std::optional<int64_t> cpu_migrations;
};

// Absent if the thread does not exist, or no longer exists.
std::optional<ThreadUsage> ReadThreadUsage(const std::string& root, pid_t pid,
                                           int thread);

}  // namespace distbench

#endif  // DISTBENCH_NUMA_THREAD_USAGE_H_
