#include "distbench/base/thread_count.h"

#include <fstream>
#include <string>

#include "distbench/base/proc_folder.h"

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

}  // namespace distbench
