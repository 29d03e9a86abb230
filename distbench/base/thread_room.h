// The number of threads that a host allows this process and its children.

#ifndef DISTBENCH_BASE_THREAD_ROOM_H_
#define DISTBENCH_BASE_THREAD_ROOM_H_

#include <cstdint>
#include <limits>
#include <string>

namespace distbench::base {

// Files are read below `root`; an empty `root` stands for the real file system.
// Thread-safe.

// How many more threads may be started now.
struct ThreadRoom {
  int64_t left = std::numeric_limits<int64_t>::max();  // at least 0

  // Describes the limit: "its control group allows 512 threads (pids.max) and
  // has 500". Empty if no limit is known.
  std::string limit;
};

// Considers the control groups of this process, RLIMIT_NPROC, which counts all
// threads of a user other than root, and the kernel's limit for the whole host.
ThreadRoom ReadThreadRoom(const std::string& root);

// Returns how often the control groups of this process have refused a thread to
// anyone. 0 if they do not count that.
int64_t ReadThreadRefusals(const std::string& root);

}  // namespace distbench::base

#endif  // DISTBENCH_BASE_THREAD_ROOM_H_
