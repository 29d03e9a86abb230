// How many threads a host lets this process, and those that it starts, have.

#ifndef DISTBENCH_BASE_THREAD_ROOM_H_
#define DISTBENCH_BASE_THREAD_ROOM_H_

#include <cstdint>
#include <limits>
#include <string>

namespace distbench {

// Files are read below `root`; empty: at their places. Thread-safe.

// How many more threads may be started now.
struct ThreadRoom {
  int64_t left = std::numeric_limits<int64_t>::max();  // at least 0

  // The limit, for people: "its control group allows 512 threads
  // (pids.max) and has 500". Empty: nothing that is known.
  std::string limit;
};

// By the control groups of this process, by RLIMIT_NPROC, which counts all
// threads of a user, unless that is root, and by what the kernel has for all.
ThreadRoom ReadThreadRoom(const std::string& root);

// How often the control groups of this process have refused somebody a thread.
// 0 if they do not count that.
int64_t ReadThreadRefusals(const std::string& root);

}  // namespace distbench

#endif  // DISTBENCH_BASE_THREAD_ROOM_H_
