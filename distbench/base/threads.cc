#include "distbench/base/threads.h"

#include <sched.h>

#include <algorithm>
#include <fstream>
#include <string>
#include <thread>

#include "distbench/base/files.h"

namespace distbench {

int64_t ProcessThreadCount(pid_t pid) {
  std::ifstream status(ProcFolder("", pid) + "/status");
  std::string word;
  while (status >> word) {
    int64_t count;
    if (word == "Threads:" && status >> count) return count;
  }
  // Without /proc, only the caller's own thread is known.
  return pid == 0 ? 1 : 0;
}

int UsableCpuCount() {
  cpu_set_t cpus;
  if (sched_getaffinity(0, sizeof(cpus), &cpus) == 0) return CPU_COUNT(&cpus);
  // More CPUs than the set has room for.
  return std::max(1u, std::thread::hardware_concurrency());
}

}  // namespace distbench
