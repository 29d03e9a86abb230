#include "distbench/base/usable_cpu_count.h"

#include <sched.h>

#include <algorithm>
#include <thread>

namespace distbench {

int UsableCpuCount() {
  cpu_set_t cpus;
  if (sched_getaffinity(0, sizeof(cpus), &cpus) == 0) return CPU_COUNT(&cpus);
  // More CPUs than the set has room for.
  return std::max(1u, std::thread::hardware_concurrency());
}

}  // namespace distbench
