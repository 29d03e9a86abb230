#include "distbench/base/threads.h"

#include <pthread.h>
#include <sched.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <string>
#include <system_error>
#include <thread>

#include "distbench/base/files.h"

namespace distbench::base {

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

void NameThread(const char* name) { pthread_setname_np(pthread_self(), name); }

int64_t TestThreadCount(pid_t pid) {
  int64_t count = 0;
  std::error_code error;  // a process or a thread may end meanwhile
  const std::filesystem::directory_iterator threads(
      ProcFolder("", pid) + "/task", error);
  for (auto thread = begin(threads); thread != end(threads);
       thread.increment(error)) {
    std::ifstream file(thread->path() / "comm");
    std::string name;
    file >> name;
    if (name == kWorkerThread || name == kActivityThread ||
        name == kHandlerThread) {
      ++count;
    }
  }
  return count;
}

int UsableCpuCount() {
  cpu_set_t cpus;
  if (sched_getaffinity(0, sizeof(cpus), &cpus) == 0) return CPU_COUNT(&cpus);
  // More CPUs than the set has room for.
  return std::max(1u, std::thread::hardware_concurrency());
}

}  // namespace distbench::base
