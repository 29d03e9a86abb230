#include "distbench/base/threads.h"

#include <pthread.h>
#include <sched.h>

#include <algorithm>
#include <string>
#include <thread>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "distbench/base/files.h"

namespace distbench::base {

int64_t ProcessThreadCount(pid_t pid) {
  int64_t count = 0;
  if (absl::SimpleAtoi(ReadTextOf(ProcFolder("", pid) + "/status", "Threads"),
                       &count)) {
    return count;
  }
  // Without /proc, only the caller's own thread is known.
  return pid == 0 ? 1 : 0;
}

void NameThread(const char* name) { pthread_setname_np(pthread_self(), name); }

int64_t TestThreadCount(pid_t pid) {
  int64_t count = 0;
  const std::string threads = ProcFolder("", pid) + "/task";
  for (const std::string& thread : NamesIn(threads)) {
    // Empty if the thread has ended meanwhile.
    const std::string name =
        FirstLine(absl::StrCat(threads, "/", thread, "/comm"));
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
