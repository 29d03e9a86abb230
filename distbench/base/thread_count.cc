#include "distbench/base/thread_count.h"

#include <fstream>
#include <string>

namespace distbench {

int64_t ProcessThreadCount() {
  std::ifstream status("/proc/self/status");
  std::string word;
  while (status >> word) {
    int64_t count;
    if (word == "Threads:" && status >> count) return count;
  }
  // Without /proc nothing is known, but for the caller's own thread.
  return 1;
}

}  // namespace distbench
