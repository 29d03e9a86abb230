// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

// Threads: starting them, counting them, and the CPUs that they may run on.

#ifndef DISTBENCH_BASE_THREADS_H_
#define DISTBENCH_BASE_THREADS_H_

#include <sys/types.h>

#include <cstdint>
#include <limits>
#include <string>
#include <system_error>
#include <thread>
#include <utility>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"

namespace distbench::base {

// Turns std::thread's exception into RESOURCE_EXHAUSTED. `what` completes
// "cannot start a thread for".
inline absl::Status NoThreadError(absl::string_view what,
                                  const std::system_error& error) {
  return absl::ResourceExhaustedError(absl::StrCat(
      "cannot start a thread for ", what, ": ", error.code().message(),
      "; let the test need fewer threads, or raise the system's limits of "
      "threads and memory"));
}

// Starts a thread that runs `body`; NoThreadError() if the system refuses it.
// For threads whose number depends on input: a failing std::thread would end
// the process.
template <typename Body>
absl::StatusOr<std::thread> StartThread(absl::string_view what, Body body) {
  try {
    return std::thread(std::move(body));
  } catch (const std::system_error& error) {
    return NoThreadError(what, error);
  }
}

// Returns the number of threads of a process, including those of libraries; pid
// 0 stands for this process. 0 if there is no such process. Thread-safe.
int64_t ProcessThreadCount(pid_t pid = 0);

// Names of the threads that a test starts, as the system shows them.
inline constexpr char kWorkerThread[] = "worker";
inline constexpr char kActivityThread[] = "activity";
inline constexpr char kHandlerThread[] = "handler";

// Names the calling thread; at most 15 bytes. Threads that it starts have the
// same name until they are given another.
void NameThread(const char* name);

// Returns how many threads of a process have one of these names, which leaves
// out those of the process itself and of libraries; pid 0 stands for this
// process. 0 if there is no such process. Thread-safe; reads a file per thread.
int64_t TestThreadCount(pid_t pid = 0);

// Returns the number of CPUs that the calling thread may run on; at least 1.
int UsableCpuCount();

// The number of threads that a host allows this process and its children.

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

#endif  // DISTBENCH_BASE_THREADS_H_
