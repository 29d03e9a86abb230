#ifndef DISTBENCH_HOSTING_ENGINE_LIMITS_H_
#define DISTBENCH_HOSTING_ENGINE_LIMITS_H_

#include <cstdint>

namespace distbench {

// The limits of each engine process; 0: the same limits as its node manager.
struct EngineLimits {
  // Open files: the process's RLIMIT_NOFILE.
  int64_t max_files = 0;

  // Threads, including those of libraries. The kernel has no such limit per
  // process (RLIMIT_NPROC counts all threads of a user), so the host of the
  // engines counts them before it makes an engine and while traffic runs.
  int64_t max_threads = 0;
};

}  // namespace distbench

#endif  // DISTBENCH_HOSTING_ENGINE_LIMITS_H_
